// What a lab left behind that crashed.
import { readdirSync, statSync } from 'node:fs';
import { namedNamespace } from '../../kernel/netns.ts';
import { deleteNamespaces, listNamespaces } from './construction.ts';
import { namespacesOf } from './names.ts';

/**
 * Deletes the namespaces of the lab with this prefix and gives their names; other labs' stay, also those whose prefix
 * begins with this one. A namespace whose processes still run loses its name but lives on: end them first, see
 * `processesOf`.
 */
export async function removeLeftovers(prefix: string): Promise<readonly string[]> {
  const names = namespacesOf(prefix, listNamespaces());
  await deleteNamespaces(names);
  return names;
}

/** The processes that run in namespaces of the lab with this prefix; this process, if it is there, is not among them. */
export function processesOf(prefix: string): readonly number[] {
  const namespaces = new Set(
    namespacesOf(prefix, listNamespaces()).map((name) => identity(namedNamespace(name))),
  );
  namespaces.delete(undefined);
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => pid !== process.pid && namespaces.has(identity(`/proc/${pid}/ns/net`)));
}

/** Tells namespaces apart; undefined when the process or the name has gone, or is not ours to look at. */
function identity(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
