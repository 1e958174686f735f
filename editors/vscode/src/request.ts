/** Requests to the language server, free of the editor, so that they can be tested by themselves. */

/** The part of a language client that sends requests; `Token` is its cancellation token. */
export interface Requester<Token> {
  sendRequest<Answer>(name: string, params: object, token?: Token): Promise<Answer>;
}

/**
 * Sends a request. The token is passed only if there is one: a client takes whatever stands behind
 * the first parameter for another parameter, even `undefined`, and servers refuse two.
 */
export function request<Answer, Token>(client: Requester<Token>, name: string, params: object, token: Token | undefined): Promise<Answer> {
  return token === undefined ? client.sendRequest<Answer>(name, params) : client.sendRequest<Answer>(name, params, token);
}
