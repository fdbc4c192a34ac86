// From kubeconfig files to what a client needs: one context with its cluster and user.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { PointsmanError } from '../base/errors.ts';
import type { ClusterAccess, Credentials } from './access.ts';
import { below, type Field, fieldError, type Placed, textOf } from './kubeconfig-field.ts';
import {
  type ClusterEntry,
  type ContextEntry,
  type KubeconfigFile,
  readKubeconfigFile,
  type UserEntry,
} from './kubeconfig-file.ts';
import { userCredentials } from './kubeconfig-user.ts';
import { checkCertificates, checkPair } from './pem.ts';
import type { RefreshedText } from './refreshed-file.ts';
import { serverUrl } from './server-url.ts';

export interface KubeconfigOptions {
  /** Read in this order; the first file that has an entry of a name wins. */
  readonly files: readonly string[];
  /** Whether files that are not there are passed over, as kubectl does for the names in KUBECONFIG. */
  readonly missingAllowed?: boolean;
  /** Instead of `current-context`. */
  readonly context?: string;
  /** Instead of the cluster's `server` (`--master`). */
  readonly master?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdinIsTerminal?: boolean;
  readonly now?: () => number;
}

/** The files that kubectl would read: those of KUBECONFIG, else `~/.kube/config`. */
export function usualKubeconfigFiles(env: Readonly<Record<string, string | undefined>>): string[] {
  const listed = (env.KUBECONFIG ?? '').split(':').filter((path) => path !== '');
  return listed.length > 0 ? [...new Set(listed)] : [join(env.HOME ?? homedir(), '.kube', 'config')];
}

/** Reads the files and resolves the context. Throws E_KUBECONFIG with one line that says what to correct. */
export async function loadKubeconfig(options: KubeconfigOptions): Promise<ClusterAccess> {
  const files: KubeconfigFile[] = [];
  for (const file of options.files) {
    try {
      files.push(await readKubeconfigFile(file));
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined;
      const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
      if (!(missing && options.missingAllowed === true)) throw error;
    }
  }
  const names = options.files.join(':');
  if (files.length === 0) throw new PointsmanError('E_KUBECONFIG', `kubeconfig ${names}: no such file`);

  const { name, context } = chosenContext(files, options.context, names);
  const cluster = named(
    files.map((file) => file.clusters),
    'clusters',
    below(context, 'cluster'),
    context.entry.cluster,
  );
  const user: Placed<UserEntry> = context.entry.user
    ? named(
        files.map((file) => file.users),
        'users',
        below(context, 'user'),
        context.entry.user,
      )
    : { entry: {}, file: context.file, field: context.field };
  return toAccess(cluster, user, `kubeconfig ${cluster.file}, context ${name}`, options);
}

function chosenContext(
  files: readonly KubeconfigFile[],
  wanted: string | undefined,
  names: string,
): { readonly name: string; readonly context: Placed<ContextEntry> } {
  const known = [...new Set(files.flatMap((file) => [...file.contexts.keys()]))];
  const choice = known.length === 0 ? 'there are no contexts' : `the contexts are ${known.join(', ')}`;
  const name = wanted ?? files.find((file) => file.currentContext !== undefined)?.currentContext;
  if (name === undefined) {
    throw new PointsmanError('E_KUBECONFIG', `kubeconfig ${names}: current-context is missing: ${choice}`);
  }
  const context = files.find((file) => file.contexts.has(name))?.contexts.get(name);
  if (context === undefined) {
    const field = wanted === undefined ? 'current-context' : 'the wanted context';
    throw new PointsmanError('E_KUBECONFIG', `kubeconfig ${names}: ${field} is "${name}": ${choice}`);
  }
  return { name, context };
}

/** The entry that a context names, from the first file that has it. */
function named<T>(
  lists: readonly ReadonlyMap<string, Placed<T>>[],
  list: string,
  field: Field,
  name: string,
): Placed<T> {
  for (const entries of lists) {
    const found = entries.get(name);
    if (found !== undefined) return found;
  }
  const known = lists.flatMap((entries) => [...entries.keys()]);
  const choice = known.length === 0 ? `${list} is empty` : `${list} has ${known.join(', ')}`;
  throw fieldError(field, `is "${name}": ${choice}`);
}

async function toAccess(
  cluster: Placed<ClusterEntry>,
  user: Placed<UserEntry>,
  origin: string,
  options: KubeconfigOptions,
): Promise<ClusterAccess> {
  const { entry } = cluster;
  if (entry['proxy-url']) {
    throw fieldError(below(cluster, 'proxy-url'), `is "${entry['proxy-url']}": proxies are not supported`, {
      hint: 'remove it and let server name an address that this node reaches directly',
    });
  }
  const authority = textOf(cluster, {
    data: entry['certificate-authority-data'],
    path: entry['certificate-authority'],
    key: 'certificate-authority',
    check: checkCertificates,
    now: options.now,
  });
  const insecure = entry['insecure-skip-tls-verify'] === true;
  if (insecure && authority !== undefined) {
    const field = below(cluster, 'insecure-skip-tls-verify');
    throw fieldError(field, 'is true beside a certificate-authority: only one of them can be meant');
  }
  const credentials = userCredentials(user, cluster, { ...options, authority });
  await checkFiles(authority, user, credentials);

  const certified = Boolean(user.entry['client-certificate'] ?? user.entry['client-certificate-data']);
  const tls = insecure || authority !== undefined || certified;
  return {
    server: options.master
      ? serverUrl(options.master, '--master', tls)
      : serverUrl(entry.server, `kubeconfig ${cluster.file}: ${cluster.field}.server`, tls),
    ...(authority === undefined ? {} : { authority }),
    ...(entry['tls-server-name'] ? { serverName: entry['tls-server-name'] } : {}),
    insecureSkipVerify: insecure,
    compression: entry['disable-compression'] !== true,
    credentials,
    origin,
  };
}

/** Reads all files once, so that a missing one is an error at the start and not of the first request. */
async function checkFiles(
  authority: RefreshedText | undefined,
  user: Placed<UserEntry>,
  credentials: Credentials,
): Promise<void> {
  await authority?.read();
  if (user.entry.exec != null) return;
  const { certificate } = await credentials.present();
  if (certificate === undefined) return;
  try {
    checkPair(certificate.certificate, certificate.key);
  } catch (cause) {
    throw fieldError(user, `cannot be used: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}
