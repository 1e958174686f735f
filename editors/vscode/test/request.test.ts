/** A request has one parameter, with and without a token to cancel it. */

import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { CancellationTokenSource, createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node';
import { request } from '../src/request';

for (const token of [undefined, new CancellationTokenSource().token]) {
  test(`a request ${token === undefined ? 'without' : 'with'} a token has its parameters as an object`, async () => {
    const [there, back] = [new PassThrough(), new PassThrough()];
    const server = createMessageConnection(new StreamMessageReader(there), new StreamMessageWriter(back));
    const client = createMessageConnection(new StreamMessageReader(back), new StreamMessageWriter(there));
    server.onRequest((_method, params) => params as object);
    server.listen();
    client.listen();
    const got = await request<unknown, typeof token>(client, 'nesl/library', { uri: 'nesl-library:/io.nesl' }, token);
    assert.deepEqual(got, { uri: 'nesl-library:/io.nesl' });
    client.dispose();
    server.dispose();
  });
}
