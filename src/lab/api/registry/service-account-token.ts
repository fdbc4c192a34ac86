// Tokens of ServiceAccounts (TokenRequest): what `kubectl create token` and in-cluster credentials use.

import { serviceAccountUser, type Tokens } from '../identity/users.ts';
import { isObject, type JsonObject, type JsonValue } from '../json.ts';
import { type Failed, notFound } from '../status.ts';
import { timestamp } from '../time.ts';
import { find, type Registry, type Target } from './context.ts';

const HOUR_SECONDS = 3600;

/** Makes a token for a ServiceAccount. It does not expire by itself; `tokens.revoke` ends it. */
export function createAccess(
  registry: Registry,
  target: Target,
  body: JsonValue,
  tokens: Tokens,
): { readonly ok: true; readonly object: JsonObject } | Failed {
  if (find(registry, target) === undefined) return notFound(target.resource, target.name);
  const spec = isObject(body) && isObject(body.spec) ? body.spec : {};
  const seconds = typeof spec.expirationSeconds === 'number' ? spec.expirationSeconds : HOUR_SECONDS;
  const token = `lab-${crypto.randomUUID()}`;
  tokens.add(token, serviceAccountUser(target.namespace ?? '', target.name));
  return {
    ok: true,
    object: {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name: target.name, namespace: target.namespace },
      spec: { ...spec, expirationSeconds: seconds },
      status: { token, expirationTimestamp: timestamp(registry.cluster.now() + seconds * 1000) },
    },
  };
}
