// Which API server to talk to: --kubeconfig, --master, else the pod's own credentials.
import type { ClusterAccess } from './access.ts';
import { createCredentials } from './credentials.ts';
import { loadInCluster } from './in-cluster.ts';
import { serverUrl } from './server-url.ts';

export interface AccessOptions {
  /** `--kubeconfig`; several files merge as kubectl's KUBECONFIG does. */
  readonly kubeconfig?: string | readonly string[];
  /** `--master`: overrides the kubeconfig's server; alone, a server without credentials (spec section 1.2). */
  readonly master?: string;
  readonly context?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether an exec plugin may ask a person. A daemon says no. */
  readonly stdinIsTerminal?: boolean;
  readonly serviceAccountFolder?: string;
  readonly now?: () => number;
}

/** Throws E_KUBECONFIG with one line that says what to correct. */
export async function findAccess(options: AccessOptions): Promise<ClusterAccess> {
  const { kubeconfig, master, context, env, stdinIsTerminal, serviceAccountFolder, now } = options;
  const files = typeof kubeconfig === 'string' ? [kubeconfig] : (kubeconfig ?? []);
  const clock = now === undefined ? {} : { now };
  if (files.some((file) => file !== '')) {
    const { loadKubeconfig } = await import('./kubeconfig.ts');
    return loadKubeconfig({
      files,
      env,
      missingAllowed: typeof kubeconfig !== 'string',
      ...(master ? { master } : {}),
      ...(context ? { context } : {}),
      ...(stdinIsTerminal === undefined ? {} : { stdinIsTerminal }),
      ...clock,
    });
  }
  if (master) {
    return {
      server: serverUrl(master, '--master', false),
      insecureSkipVerify: false,
      compression: true,
      credentials: createCredentials({}),
      origin: '--master',
    };
  }
  return loadInCluster({
    env,
    ...(serviceAccountFolder === undefined ? {} : { folder: serviceAccountFolder }),
    ...clock,
  });
}
