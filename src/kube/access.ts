// What a client must know to talk to one API server. Kubeconfig files and in-cluster files both end in this.
import type { RefreshedText } from './refreshed-file.ts';

/** PEM texts. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

export type Headers = Readonly<Record<string, string | readonly string[]>>;

/** What one request shows of who we are. The same object comes back as long as nothing changed. */
export interface Presented {
  /** `authorization`, `impersonate-…`; a list is sent as a header for each of its values. */
  readonly headers: Headers;
  readonly certificate?: ClientCertificate;
}

/** A source of credentials that may rotate. */
export interface Credentials {
  /** Throws E_KUBECONFIG or E_CREDENTIAL_PLUGIN if there is nothing to present. */
  present(): Promise<Presented>;
  /** The server answered 401 to this: the next `present` asks the source again. */
  refused(presented: Presented): void;
}

export interface ClusterAccess {
  /** `http:` or `https:`; a path in it is a prefix of all requests. */
  readonly server: URL;
  /** The CA bundle that the server must be signed by; without one, the system's. */
  readonly authority?: RefreshedText;
  /** The name the server's certificate must carry, when not the host of `server`. */
  readonly serverName?: string;
  readonly insecureSkipVerify: boolean;
  readonly compression: boolean;
  readonly credentials: Credentials;
  /** Where this comes from, for messages: `kubeconfig /etc/kube.conf, context admin`. */
  readonly origin: string;
}
