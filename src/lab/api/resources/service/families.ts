// Which IP families a Service gets (KEP-563, dual-stack).
import { FAMILIES, type Family, familyOf } from '../../../../model/address.ts';
import { type FieldError, invalidValue } from '../../field-error.ts';
import { sameJson, withFields } from '../../json.ts';
import { HEADLESS, isHeadless, needsClusterIp, type Service, type ServiceSpec } from './types.ts';

export type Families =
  | { readonly ok: true; readonly spec: ServiceSpec }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

function policyFor(next: ServiceSpec, before: ServiceSpec | undefined): string {
  if (next.ipFamilyPolicy !== undefined) return next.ipFamilyPolicy;
  if (before?.ipFamilyPolicy !== undefined) return before.ipFamilyPolicy;
  const selectorless = Object.keys(next.selector ?? {}).length === 0;
  return isHeadless(next) && selectorless ? 'RequireDualStack' : 'SingleStack';
}

/** Going back to one family drops the second one's fields, when the update did not touch them. */
function downgraded(spec: ServiceSpec, before: ServiceSpec | undefined): ServiceSpec {
  if (
    before === undefined ||
    spec.ipFamilyPolicy !== 'SingleStack' ||
    before.ipFamilyPolicy === 'SingleStack'
  )
    return spec;
  const first = (field: 'clusterIPs' | 'ipFamilies'): readonly string[] | undefined =>
    sameJson(spec[field], before[field]) ? spec[field]?.slice(0, 1) : spec[field];
  return withFields(spec, { clusterIPs: first('clusterIPs'), ipFamilies: first('ipFamilies') });
}

/** Fills in ipFamilyPolicy and ipFamilies. `configured` are the cluster's families, the primary one first. */
export function chooseFamilies(
  service: Service,
  before: Service | undefined,
  configured: readonly Family[],
): Families {
  if (!needsClusterIp(service.spec)) return { ok: true, spec: service.spec };
  const policy = policyFor(service.spec, before?.spec);
  const spec = downgraded(withFields(service.spec, { ipFamilyPolicy: policy }), before?.spec);
  const families: string[] = [...(spec.ipFamilies ?? [])];
  const addresses = (spec.clusterIPs ?? []).filter((address) => address !== HEADLESS);
  for (const [at, address] of addresses.entries())
    if (at >= families.length) families.push(familyOf(address));

  const selectorless = Object.keys(spec.selector ?? {}).length === 0;
  const free = isHeadless(spec) && selectorless;
  const errors: FieldError[] = [];
  if (!free) {
    if (policy === 'RequireDualStack' && configured.length < 2)
      errors.push(
        invalidValue('spec.ipFamilyPolicy', policy, 'this cluster is not configured for dual-stack services'),
      );
    families.forEach((family, at) => {
      if (FAMILIES.includes(family as Family) && !configured.includes(family as Family))
        errors.push(invalidValue(`spec.ipFamilies[${at}]`, family, 'not configured on this cluster'));
    });
  }
  if (errors.length > 0) return { ok: false, errors };
  const primary = configured[0] ?? 'IPv4';
  if (families.length === 0) families.push(primary);
  // A headless Service without selector may name families that the cluster does not have.
  const choosable = free ? FAMILIES : configured;
  const other = choosable.find((family) => family !== families[0]);
  if (policy !== 'SingleStack' && families.length === 1 && other !== undefined) families.push(other);
  return { ok: true, spec: withFields(spec, { ipFamilies: families }) };
}
