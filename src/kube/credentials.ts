// Puts a user's parts together: token, certificate, plugin, impersonation. Which part changed does not matter to callers.
import type { ClientCertificate, Credentials, Headers, Presented } from './access.ts';
import type { RefreshedText } from './refreshed-file.ts';

/** What an exec plugin gives. */
export interface PluginCredential {
  readonly token?: string;
  readonly certificate?: ClientCertificate;
}

/** A source that is asked again when its credential expired or was refused. */
export interface PluginSource {
  credential(): Promise<PluginCredential>;
  refused(): void;
}

export interface CredentialParts {
  readonly token?: RefreshedText;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly certificate?: { readonly certificate: RefreshedText; readonly key: RefreshedText };
  readonly plugin?: PluginSource;
  /** Headers that are always sent: impersonation. */
  readonly headers?: Headers;
}

/** Credentials that present the parts' present content. */
export function createCredentials(parts: CredentialParts): Credentials {
  let last: { readonly presented: Presented; readonly fingerprint: string } | undefined;

  async function authorization(fromPlugin: PluginCredential | undefined): Promise<string | undefined> {
    if (fromPlugin?.token !== undefined) return `Bearer ${fromPlugin.token}`;
    if (parts.token !== undefined) return `Bearer ${await parts.token.read()}`;
    if (parts.basic === undefined) return undefined;
    return `Basic ${Buffer.from(`${parts.basic.username}:${parts.basic.password}`).toString('base64')}`;
  }

  async function certificateOf(from: PluginCredential | undefined): Promise<ClientCertificate | undefined> {
    if (from?.certificate !== undefined) return from.certificate;
    if (parts.certificate === undefined) return undefined;
    return {
      certificate: await parts.certificate.certificate.read(),
      key: await parts.certificate.key.read(),
    };
  }

  return {
    async present() {
      const fromPlugin = await parts.plugin?.credential();
      const authorized = await authorization(fromPlugin);
      const certificate = await certificateOf(fromPlugin);
      const fingerprint = JSON.stringify([authorized, certificate]);
      if (last?.fingerprint === fingerprint) return last.presented;
      const presented: Presented = {
        headers: { ...parts.headers, ...(authorized === undefined ? {} : { authorization: authorized }) },
        ...(certificate === undefined ? {} : { certificate }),
      };
      last = { presented, fingerprint };
      return presented;
    },
    refused(presented) {
      // Another request may have renewed them meanwhile: then the new ones were not refused.
      if (last?.presented !== presented) return;
      parts.token?.expire();
      parts.certificate?.certificate.expire();
      parts.certificate?.key.expire();
      parts.plugin?.refused();
    },
  };
}
