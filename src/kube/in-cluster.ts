// The credentials that the kubelet mounts into every pod.
// https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/#directly-accessing-the-rest-api
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { PointsmanError } from '../base/errors.ts';
import type { ClusterAccess } from './access.ts';
import { createCredentials } from './credentials.ts';
import { checkCertificates } from './pem.ts';
import { createRefreshedFile } from './refreshed-file.ts';
import { serverUrl } from './server-url.ts';

export const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface InClusterOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly folder?: string;
  readonly now?: () => number;
}

/** Access by the pod's service account; token and CA are followed as they rotate. Throws E_KUBECONFIG outside of a pod. */
export async function loadInCluster(options: InClusterOptions): Promise<ClusterAccess> {
  const { env, folder = SERVICE_ACCOUNT_FOLDER, now } = options;
  const host = env.KUBERNETES_SERVICE_HOST;
  const port = env.KUBERNETES_SERVICE_PORT;
  if (!host || !port) {
    throw new PointsmanError(
      'E_KUBECONFIG',
      'no kubeconfig was named and this is no pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set',
      { hint: 'name a file with --kubeconfig' },
    );
  }
  const file = (name: string, check?: (text: string) => void) =>
    createRefreshedFile({
      path: join(folder, name),
      what: 'in-cluster credentials',
      ...(check === undefined ? {} : { check }),
      ...(now === undefined ? {} : { now }),
    });
  const token = file('token');
  const authority = file('ca.crt', checkCertificates);
  await token.read();
  await authority.read();
  const address = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  return {
    server: serverUrl(address, 'KUBERNETES_SERVICE_HOST', true),
    authority,
    insecureSkipVerify: false,
    compression: true,
    credentials: createCredentials({ token }),
    origin: 'in-cluster credentials',
  };
}
