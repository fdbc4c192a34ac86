// What may be wrong with a Service.
import { familyOf, parseAddress, parseCidr } from '../../../../model/address.ts';
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../field-error.ts';
import { fieldsOf, sameJson } from '../../json.ts';
import { dnsSubdomain, labelValue, qualifiedName } from '../../names.ts';
import {
  HEADLESS,
  isExternallyAccessible,
  isHeadless,
  mayHaveNodePort,
  needsClusterIp,
  needsHealthCheckPort,
  type Service,
  type ServiceSpec,
} from './types.ts';
import { servicePortErrors } from './validate-ports.ts';

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const POLICIES = ['Cluster', 'Local'];
const FAMILY_POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const DISTRIBUTIONS = ['PreferClose', 'PreferSameNode', 'PreferSameZone'];
const LONGEST_AFFINITY_SECONDS = 86400;
const BAD_ADDRESS = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

function addressErrors(spec: ServiceSpec): readonly FieldError[] {
  const { clusterIP, clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const errors: FieldError[] = [];
  const at = (index: number): string => `spec.clusterIPs[${index}]`;
  if (!needsClusterIp(spec)) {
    for (const field of ['ipFamilyPolicy', 'ipFamilies', 'clusterIPs', 'clusterIP'] as const)
      if (spec[field] !== undefined)
        errors.push(forbiddenField(`spec.${field}`, 'may not be set for ExternalName services'));
    return errors;
  }
  if (clusterIP !== undefined && clusterIP !== clusterIPs[0])
    errors.push(invalidValue('spec.clusterIPs', clusterIPs, 'first value must match `clusterIP`'));
  if (ipFamilyPolicy !== undefined && !FAMILY_POLICIES.includes(ipFamilyPolicy))
    errors.push(notSupported('spec.ipFamilyPolicy', ipFamilyPolicy, FAMILY_POLICIES));
  ipFamilies.forEach((family, index) => {
    const field = `spec.ipFamilies[${index}]`;
    if (family !== 'IPv4' && family !== 'IPv6') errors.push(notSupported(field, family, ['IPv4', 'IPv6']));
    else if (ipFamilies.indexOf(family) < index) errors.push(duplicate(field, family));
  });
  if (clusterIPs.includes(HEADLESS)) {
    if (clusterIPs.length > 1)
      errors.push(invalidValue('spec.clusterIPs', clusterIPs, "'None' must be the first and only value"));
    return errors;
  }
  if (clusterIPs.length > 2)
    errors.push(invalidValue('spec.clusterIPs', clusterIPs, 'may only hold up to 2 values'));
  if (clusterIPs.length > 1 && ipFamilyPolicy === 'SingleStack')
    errors.push(
      invalidValue(
        'spec.ipFamilyPolicy',
        ipFamilyPolicy,
        'must be RequireDualStack or PreferDualStack when multiple `clusterIPs` are specified',
      ),
    );
  if (ipFamilies.length > 1 && ipFamilyPolicy === 'SingleStack')
    errors.push(
      invalidValue(
        'spec.ipFamilyPolicy',
        ipFamilyPolicy,
        'must be RequireDualStack or PreferDualStack when multiple `ipFamilies` are specified',
      ),
    );
  clusterIPs.forEach((address, index) => {
    const canonical = parseAddress(address);
    if (canonical === undefined) errors.push(invalidValue(at(index), address, BAD_ADDRESS));
    else if (ipFamilies[index] !== undefined && familyOf(canonical) !== ipFamilies[index])
      errors.push(
        invalidValue(
          at(index),
          address,
          `expected an ${ipFamilies[index]} value as indicated by \`ipFamilies[${index}]\``,
        ),
      );
  });
  const [one, two] = clusterIPs.map((address) => parseAddress(address));
  if (one !== undefined && two !== undefined && familyOf(one) === familyOf(two))
    errors.push(
      invalidValue('spec.clusterIPs', clusterIPs, 'may specify no more than one IP for each IP family'),
    );
  return errors;
}

function affinityErrors(spec: ServiceSpec): readonly FieldError[] {
  if (spec.sessionAffinity !== 'ClientIP' && spec.sessionAffinity !== 'None')
    return [notSupported('spec.sessionAffinity', spec.sessionAffinity, ['ClientIP', 'None'])];
  const seconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds;
  return spec.sessionAffinity === 'ClientIP' &&
    (seconds === undefined || seconds <= 0 || seconds > LONGEST_AFFINITY_SECONDS)
    ? [
        invalidValue(
          'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
          seconds,
          `must be greater than 0 and less than ${LONGEST_AFFINITY_SECONDS}`,
        ),
      ]
    : [];
}

function trafficErrors(spec: ServiceSpec): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { externalTrafficPolicy, internalTrafficPolicy, healthCheckNodePort, trafficDistribution } = spec;
  if (externalTrafficPolicy !== undefined) {
    if (!isExternallyAccessible(spec))
      errors.push(
        invalidValue(
          'spec.externalTrafficPolicy',
          externalTrafficPolicy,
          'may only be set for externally-accessible services',
        ),
      );
    else if (!POLICIES.includes(externalTrafficPolicy))
      errors.push(notSupported('spec.externalTrafficPolicy', externalTrafficPolicy, POLICIES));
  }
  if (internalTrafficPolicy !== undefined && !POLICIES.includes(internalTrafficPolicy))
    errors.push(notSupported('spec.internalTrafficPolicy', internalTrafficPolicy, POLICIES));
  if (healthCheckNodePort !== undefined && !needsHealthCheckPort(spec))
    errors.push(
      invalidValue(
        'spec.healthCheckNodePort',
        healthCheckNodePort,
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ),
    );
  if (trafficDistribution !== undefined && !DISTRIBUTIONS.includes(trafficDistribution))
    errors.push(notSupported('spec.trafficDistribution', trafficDistribution, DISTRIBUTIONS));
  return errors;
}

function loadBalancerErrors(spec: ServiceSpec): readonly FieldError[] {
  const errors: FieldError[] = [];
  const onlyFor = "may only be used when `type` is 'LoadBalancer'";
  const isBalancer = spec.type === 'LoadBalancer';
  if (!isBalancer) {
    for (const field of [
      'allocateLoadBalancerNodePorts',
      'loadBalancerClass',
      'loadBalancerSourceRanges',
    ] as const)
      if (spec[field] !== undefined) errors.push(forbiddenField(`spec.${field}`, onlyFor));
  } else if (spec.allocateLoadBalancerNodePorts === undefined)
    errors.push(required('spec.allocateLoadBalancerNodePorts'));
  spec.loadBalancerSourceRanges?.forEach((text, at) => {
    if (parseCidr(text.trim()) === undefined)
      errors.push(
        invalidValue(
          `spec.LoadBalancerSourceRanges[${at}]`,
          text,
          'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
        ),
      );
  });
  const { loadBalancerClass } = spec;
  if (isBalancer && loadBalancerClass !== undefined)
    errors.push(
      ...qualifiedName(loadBalancerClass).map((why) =>
        invalidValue('spec.loadBalancerClass', loadBalancerClass, why),
      ),
    );
  return errors;
}

function otherErrors(spec: ServiceSpec): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (!TYPES.includes(spec.type)) errors.push(notSupported('spec.type', spec.type, TYPES));
  if (spec.type === 'LoadBalancer' && isHeadless(spec))
    errors.push(
      invalidValue('spec.clusterIPs[0]', HEADLESS, "may not be set to 'None' for LoadBalancer services"),
    );
  if (spec.type === 'NodePort' && isHeadless(spec))
    errors.push(
      invalidValue('spec.clusterIPs[0]', HEADLESS, "may not be set to 'None' for NodePort services"),
    );
  if (spec.type === 'ExternalName') {
    const name = spec.externalName ?? '';
    if (name === '') errors.push(required('spec.externalName'));
    else
      errors.push(
        ...dnsSubdomain(name.replace(/\.$/, '')).map((why) => invalidValue('spec.externalName', name, why)),
      );
  }
  for (const [key, value] of fieldsOf(spec.selector ?? {})) {
    errors.push(...qualifiedName(key).map((why) => invalidValue('spec.selector', key, why)));
    errors.push(...labelValue(String(value)).map((why) => invalidValue('spec.selector', value, why)));
  }
  spec.externalIPs?.forEach((text, at) => {
    const address = parseAddress(text);
    if (address === undefined) errors.push(invalidValue(`spec.externalIPs[${at}]`, text, BAD_ADDRESS));
    else if (/^(127\.|0\.0\.0\.0$|169\.254\.|224\.0\.0\.)|^(::1?$|fe80:|ff02:)/.test(address))
      errors.push(
        invalidValue(
          `spec.externalIPs[${at}]`,
          text,
          'may not be unspecified, loopback, link-local or multicast',
        ),
      );
  });
  if (!mayHaveNodePort(spec))
    spec.ports?.forEach(({ nodePort }, at) => {
      if (nodePort !== undefined)
        errors.push(
          forbiddenField(`spec.ports[${at}].nodePort`, `may not be used when \`type\` is '${spec.type}'`),
        );
    });
  return errors;
}

/** What an update may not change: addresses, the primary family, the class and the health check's port. */
function changeErrors(next: ServiceSpec, before: ServiceSpec): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (needsClusterIp(next) && needsClusterIp(before)) {
    const [had, has] = [before.clusterIPs ?? [], next.clusterIPs ?? []];
    for (const index of [0, 1]) {
      const old = had[index];
      const field = `spec.clusterIPs[${index}]`;
      if (old === undefined) continue;
      if (has[index] === undefined) {
        if (index === 0) errors.push(invalidValue(field, has, 'primary clusterIP can not be unset'));
        else if (next.ipFamilyPolicy !== 'SingleStack')
          errors.push(
            invalidValue(
              field,
              has,
              "`ipFamilyPolicy` must be set to 'SingleStack' when releasing the secondary clusterIP",
            ),
          );
      } else if (has[index] !== old) errors.push(invalidValue(field, has, 'may not change once set'));
    }
    const [oldFamilies, families] = [before.ipFamilies ?? [], next.ipFamilies ?? []];
    if (oldFamilies[0] !== undefined && oldFamilies[0] !== families[0])
      errors.push(
        invalidValue(
          'spec.ipFamilies[0]',
          families,
          families[0] === undefined ? 'primary ipFamily can not be unset' : 'may not change once set',
        ),
      );
  }
  if (
    before.type === 'LoadBalancer' &&
    next.type === 'LoadBalancer' &&
    !sameJson(before.loadBalancerClass, next.loadBalancerClass)
  )
    errors.push(invalidValue('spec.loadBalancerClass', next.loadBalancerClass, 'may not change once set'));
  if (
    needsHealthCheckPort(next) &&
    needsHealthCheckPort(before) &&
    before.healthCheckNodePort !== next.healthCheckNodePort
  )
    errors.push(invalidValue('spec.healthCheckNodePort', next.healthCheckNodePort, 'field is immutable'));
  return errors;
}

function statusErrors({ spec, status }: Service): readonly FieldError[] {
  const ingress = status.loadBalancer.ingress ?? [];
  const path = 'status.loadBalancer.ingress';
  if (ingress.length > 0 && spec.type !== 'LoadBalancer')
    return [forbiddenField(path, "may only be used when `spec.type` is 'LoadBalancer'")];
  return ingress.flatMap(({ ip, hostname, ipMode }, at) => {
    const errors: FieldError[] = [];
    if (ip !== undefined && parseAddress(ip) === undefined)
      errors.push(invalidValue(`${path}[${at}].ip`, ip, BAD_ADDRESS));
    if (hostname !== undefined)
      errors.push(
        ...dnsSubdomain(hostname).map((why) => invalidValue(`${path}[${at}].hostname`, hostname, why)),
      );
    if (ip !== undefined && ipMode !== undefined && ipMode !== 'VIP' && ipMode !== 'Proxy')
      errors.push(notSupported(`${path}[${at}].ipMode`, ipMode, ['Proxy', 'VIP']));
    return errors;
  });
}

export function serviceErrors(next: Service, before: Service | undefined): readonly FieldError[] {
  const { spec } = next;
  return [
    ...servicePortErrors(spec),
    ...addressErrors(spec),
    ...affinityErrors(spec),
    ...otherErrors(spec),
    ...trafficErrors(spec),
    ...loadBalancerErrors(spec),
    ...(before === undefined ? [] : changeErrors(spec, before.spec)),
    ...statusErrors(next),
  ];
}
