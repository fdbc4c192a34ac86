// Bodies that are requests rather than objects to store: reviews, TokenRequests, evictions, DeleteOptions.
import { OBJECT_META } from './meta.ts';
import { flagKept, int64Kept, list, type ObjectSchema, object, open, text, textKept } from './schema.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const AUTHENTICATION = 'io.k8s.api.authentication.v1';

export const DELETE_OPTIONS: ObjectSchema = object(`${META}.DeleteOptions`, {
  gracePeriodSeconds: int64Kept,
  preconditions: object(`${META}.Preconditions`, { uid: textKept, resourceVersion: textKept }),
  orphanDependents: flagKept,
  propagationPolicy: textKept,
  dryRun: list(text),
});

export const EVICTION: ObjectSchema = object('io.k8s.api.policy.v1.Eviction', {
  metadata: OBJECT_META,
  deleteOptions: DELETE_OPTIONS,
});

export const TOKEN_REQUEST: ObjectSchema = object(`${AUTHENTICATION}.TokenRequest`, {
  metadata: OBJECT_META,
  spec: object(`${AUTHENTICATION}.TokenRequestSpec`, { audiences: list(text), expirationSeconds: int64Kept }),
});

/** The schema of a review's body. */
export function reviewSchema(group: string, kind: string): ObjectSchema {
  const name = `io.k8s.api.${group.replace('.k8s.io', '')}.v1`;
  const spec =
    kind === 'TokenReview' ? object(`${name}.TokenReviewSpec`, { token: text, audiences: list(text) }) : open;
  return object(`${name}.${kind}`, { metadata: OBJECT_META, spec });
}
