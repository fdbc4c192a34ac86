// The user of a context: which credentials it has. One way to authenticate only, as clientcmd demands.
import type { Credentials } from './access.ts';
import { type CredentialParts, createCredentials, type PluginSource } from './credentials.ts';
import { createExecPlugin } from './exec-plugin.ts';
import { below, fieldError, type Placed, pathIn, textOf } from './kubeconfig-field.ts';
import type { ClusterEntry, ExecEntry, UserEntry } from './kubeconfig-file.ts';
import { checkCertificates, checkKey } from './pem.ts';
import { constantText, createRefreshedFile, type RefreshedText } from './refreshed-file.ts';

export interface UserOptions {
  /** The cluster's CA bundle: a plugin that asks for the cluster is told it. */
  readonly authority?: RefreshedText | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdinIsTerminal?: boolean;
  readonly now?: () => number;
}

/** The name of the cluster extension that exec plugins get as `cluster.config`. */
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

/** The user's credentials. `cluster` is what a plugin that asks for it is told. Throws E_KUBECONFIG. */
export function userCredentials(
  user: Placed<UserEntry>,
  cluster: Placed<ClusterEntry>,
  options: UserOptions,
): Credentials {
  const { entry } = user;
  if (entry['auth-provider'] != null) {
    throw fieldError(below(user, 'auth-provider'), 'is not supported: Kubernetes 1.26 removed it', {
      hint: 'use an exec plugin instead',
    });
  }
  const token = tokenOf(user, options);
  const basic = entry.username || entry.password;
  if (basic && token !== undefined) {
    throw fieldError(user, 'has a token and a username: only one way to authenticate is allowed');
  }
  const parts: CredentialParts = {
    ...(token === undefined ? {} : { token }),
    ...(basic ? { basic: { username: entry.username ?? '', password: entry.password ?? '' } } : {}),
    ...certificateOf(user, options),
    ...(entry.exec == null ? {} : { plugin: pluginOf(user, entry.exec, cluster, options) }),
    headers: impersonation(entry),
  };
  return createCredentials(parts);
}

/** A token file wins over a token in the file; clientcmd reads it anew each minute. */
function tokenOf(user: Placed<UserEntry>, { now }: UserOptions): RefreshedText | undefined {
  const { token, tokenFile } = user.entry;
  if (tokenFile) {
    return createRefreshedFile({
      path: pathIn(user, tokenFile),
      what: `kubeconfig ${user.file}: ${user.field}.tokenFile`,
      ...(now === undefined ? {} : { now }),
    });
  }
  return token ? constantText(token) : undefined;
}

function certificateOf(user: Placed<UserEntry>, { now }: UserOptions): Pick<CredentialParts, 'certificate'> {
  const { entry } = user;
  const certificate = textOf(user, {
    data: entry['client-certificate-data'],
    path: entry['client-certificate'],
    key: 'client-certificate',
    check: checkCertificates,
    now,
  });
  const key = textOf(user, {
    data: entry['client-key-data'],
    path: entry['client-key'],
    key: 'client-key',
    check: checkKey,
    now,
  });
  if (certificate === undefined && key === undefined) return {};
  if (certificate === undefined) throw fieldError(user, 'has a client-key without a client-certificate');
  if (key === undefined) throw fieldError(user, 'has a client-certificate without a client-key');
  return { certificate: { certificate, key } };
}

function pluginOf(
  user: Placed<UserEntry>,
  exec: ExecEntry,
  cluster: Placed<ClusterEntry>,
  { env = {}, stdinIsTerminal = false, now, authority }: UserOptions,
): PluginSource {
  const place = below(user, 'exec');
  // v1 made the field mandatory; v1beta1 has a default.
  const interactiveMode =
    exec.interactiveMode ??
    (exec.apiVersion === 'client.authentication.k8s.io/v1beta1' ? 'IfAvailable' : undefined);
  if (interactiveMode === undefined) {
    throw fieldError(
      below(place, 'interactiveMode'),
      'is missing: must be "Never", "IfAvailable" or "Always"',
    );
  }
  const added = Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value ?? '']));
  return createExecPlugin({
    apiVersion: exec.apiVersion,
    command: exec.command.includes('/') ? pathIn(user, exec.command) : exec.command,
    args: exec.args ?? [],
    env: { ...env, ...added },
    interactiveMode,
    stdinIsTerminal,
    ...(exec.provideClusterInfo === true ? { cluster: () => clusterInfo(cluster, authority) } : {}),
    ...(exec.installHint ? { installHint: exec.installHint } : {}),
    what: `kubeconfig ${place.file}: ${place.field}`,
    ...(now === undefined ? {} : { now }),
  });
}

/** ExecCredential's spec.cluster: the fields of the kubeconfig, but the CA always as data. */
async function clusterInfo(
  { entry }: Placed<ClusterEntry>,
  authority: RefreshedText | undefined,
): Promise<Record<string, unknown>> {
  const config = (entry.extensions ?? []).find(({ name }) => name === EXEC_EXTENSION)?.extension;
  const bundle = await authority?.read();
  return {
    server: entry.server,
    ...(entry['tls-server-name'] ? { 'tls-server-name': entry['tls-server-name'] } : {}),
    ...(entry['insecure-skip-tls-verify'] ? { 'insecure-skip-tls-verify': true } : {}),
    ...(bundle === undefined ? {} : { 'certificate-authority-data': Buffer.from(bundle).toString('base64') }),
    ...(config === undefined ? {} : { config }),
  };
}

/** https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation */
function impersonation(entry: UserEntry): Record<string, string | readonly string[]> {
  const extra = Object.entries(entry['as-user-extra'] ?? {}).map(
    ([key, values]) => [`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`, values] as const,
  );
  const groups = entry['as-groups'] ?? [];
  return {
    ...(entry.as ? { 'impersonate-user': entry.as } : {}),
    ...(entry['as-uid'] ? { 'impersonate-uid': entry['as-uid'] } : {}),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
    ...Object.fromEntries(extra),
  };
}
