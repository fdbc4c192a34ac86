// Reviews: who a request comes from, and whether it may. In the lab everyone who is somebody may do everything.

import type { Tokens, User } from '../identity/users.ts';
import { isObject, type JsonObject, type JsonValue, withFields } from '../json.ts';

export interface Review {
  readonly group: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
}

const AUTHENTICATION = 'authentication.k8s.io';
const AUTHORIZATION = 'authorization.k8s.io';

const review = (group: string, kind: string): Review => ({
  group,
  kind,
  plural: `${kind.toLowerCase()}s`,
  singular: kind.toLowerCase(),
});

export const REVIEWS: readonly Review[] = [
  review(AUTHENTICATION, 'SelfSubjectReview'),
  review(AUTHENTICATION, 'TokenReview'),
  review(AUTHORIZATION, 'SelfSubjectAccessReview'),
  review(AUTHORIZATION, 'SelfSubjectRulesReview'),
  review(AUTHORIZATION, 'SubjectAccessReview'),
];

const EVERYTHING = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
};

const userInfo = ({ name, groups }: User): JsonObject => ({ username: name, groups });

function statusOf(kind: string, spec: JsonValue | undefined, user: User, tokens: Tokens): JsonObject {
  switch (kind) {
    case 'SelfSubjectReview':
      return { userInfo: userInfo(user) };
    case 'TokenReview': {
      const token = isObject(spec) && typeof spec.token === 'string' ? spec.token : '';
      const owner = tokens.userOf(token);
      return owner === undefined
        ? { user: {}, error: 'invalid bearer token' }
        : { authenticated: true, user: userInfo(owner) };
    }
    case 'SelfSubjectRulesReview':
      return EVERYTHING;
    default:
      return { allowed: true, reason: 'the lab lets every known user do everything' };
  }
}

/** The review's body with its verdict. */
export function reviewed(kind: Review, body: JsonValue, user: User, tokens: Tokens): JsonObject {
  const given = isObject(body) ? body : {};
  return withFields(
    {
      kind: kind.kind,
      apiVersion: `${kind.group}/v1`,
      metadata: isObject(given.metadata) ? given.metadata : {},
    },
    { spec: given.spec, status: statusOf(kind.kind, given.spec, user, tokens) },
  );
}
