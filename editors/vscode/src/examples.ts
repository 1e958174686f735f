/** The example programs that come with the extension, opened as texts of one's own. */

import * as vscode from 'vscode';

export async function openExample(extension: vscode.Uri, wanted?: unknown): Promise<void> {
  const folder = await examplesFolder(extension);
  if (folder === undefined) return;
  const files = (await vscode.workspace.fs.readDirectory(folder))
    .map(([name]) => name)
    .filter((name) => name.endsWith('.nesl'))
    .sort();
  const file = files.includes(`${String(wanted)}.nesl`)
    ? `${String(wanted)}.nesl`
    : (await pick(folder, files))?.file;
  if (file === undefined) return;
  const content = await text(folder, file);
  const document = await vscode.workspace.openTextDocument({ language: 'nesl', content });
  await vscode.window.showTextDocument(document);
}

async function pick(folder: vscode.Uri, files: string[]): Promise<{ file: string } | undefined> {
  const items = await Promise.all(
    files.map(async (file) => ({
      file,
      label: file.replace(/\.nesl$/, ''),
      description: summary(await text(folder, file)),
    })),
  );
  return vscode.window.showQuickPick(items, { title: 'NESL examples', matchOnDescription: true });
}

/** The first sentence of the comment that a program begins with. */
function summary(text: string): string {
  const comment = /^%\s*([^%]*)%/.exec(text)?.[1] ?? '';
  return (/^[\s\S]*?[.:](?=\s|$)/.exec(comment)?.[0] ?? comment).replace(/\s+/g, ' ').replace(/[.:]$/, '').trim();
}

/** Beside the extension when packaged; in the project when run from its source. */
async function examplesFolder(extension: vscode.Uri): Promise<vscode.Uri | undefined> {
  for (const place of [['examples'], ['..', '..', 'examples']]) {
    const folder = vscode.Uri.joinPath(extension, ...place);
    const there = await vscode.workspace.fs.stat(folder).then(
      () => true,
      () => false,
    );
    if (there) return folder;
  }
  void vscode.window.showErrorMessage('NESL: the examples are missing from this installation.');
  return undefined;
}

async function text(folder: vscode.Uri, file: string): Promise<string> {
  return new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.joinPath(folder, file)));
}
