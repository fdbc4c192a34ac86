// A kubeconfig for the lab's server.
import { stringify } from 'yaml';
import type { KeyAndCertificate } from './certificates.ts';

export type Credential =
  | { readonly kind: 'certificate'; readonly pair: KeyAndCertificate }
  | { readonly kind: 'token'; readonly token: string };

export interface KubeconfigOptions {
  /** Such as `https://127.0.0.1:6443`. */
  readonly server: string;
  /** PEM of the authority that signed the server's certificate. */
  readonly authority: string;
  readonly credential: Credential;
  /** Names the cluster and the context. */
  readonly name?: string;
  readonly user?: string;
  readonly namespace?: string;
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

/** The file's text (YAML), with everything inside it. */
export function kubeconfigText(options: KubeconfigOptions): string {
  const { server, authority, credential, name = 'pointsman-lab', user = 'admin', namespace } = options;
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': base64(authority) } }],
    users: [
      {
        name: user,
        user:
          credential.kind === 'token'
            ? { token: credential.token }
            : {
                'client-certificate-data': base64(credential.pair.certificate),
                'client-key-data': base64(credential.pair.key),
              },
      },
    ],
    contexts: [{ name, context: { cluster: name, user, ...(namespace === undefined ? {} : { namespace }) } }],
    'current-context': name,
  });
}
