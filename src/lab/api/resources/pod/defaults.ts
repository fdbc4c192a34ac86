// What the server fills in in a Pod.
import { type JsonObject, withFields } from '../../json.ts';
import type { Container, Pod, PodSpec, Probe } from './types.ts';

function probeDefaults(probe: Probe | undefined): Probe | undefined {
  if (probe === undefined) return undefined;
  const { httpGet } = probe;
  return withFields(probe, {
    ...(httpGet === undefined
      ? {}
      : { httpGet: withFields(httpGet, { path: httpGet.path ?? '/', scheme: httpGet.scheme ?? 'HTTP' }) }),
    timeoutSeconds: probe.timeoutSeconds ?? 1,
    periodSeconds: probe.periodSeconds ?? 10,
    successThreshold: probe.successThreshold ?? 1,
    failureThreshold: probe.failureThreshold ?? 3,
  });
}

/** `Always` for the tag `latest` and for none, `IfNotPresent` for any other. */
function pullPolicy(image: string | undefined): string {
  const name = image ?? '';
  if (name.includes('@')) return 'IfNotPresent';
  const tag = /:([^/:]+)$/.exec(name)?.[1];
  return tag === undefined || tag === 'latest' ? 'Always' : 'IfNotPresent';
}

function containerDefaults(container: Container, hostNetwork: boolean): Container {
  return withFields(container, {
    ports: container.ports?.map((port) =>
      withFields(port, {
        protocol: port.protocol ?? 'TCP',
        ...(hostNetwork ? { hostPort: port.hostPort ?? port.containerPort } : {}),
      }),
    ),
    resources: container.resources ?? {},
    livenessProbe: probeDefaults(container.livenessProbe),
    readinessProbe: probeDefaults(container.readinessProbe),
    startupProbe: probeDefaults(container.startupProbe),
    terminationMessagePath: container.terminationMessagePath ?? '/dev/termination-log',
    terminationMessagePolicy: container.terminationMessagePolicy ?? 'File',
    imagePullPolicy: container.imagePullPolicy ?? pullPolicy(container.image),
  });
}

export function podDefaults(pod: Pod): Pod {
  const spec: PodSpec = pod.spec ?? { containers: [] };
  const each = (containers: readonly Container[] | undefined): readonly Container[] | undefined =>
    containers?.map((container) => containerDefaults(container, spec.hostNetwork === true));
  const account = spec.serviceAccountName ?? String(spec.serviceAccount ?? 'default');
  return withFields(pod, {
    spec: withFields(spec, {
      initContainers: each(spec.initContainers),
      containers: each(spec.containers) ?? [],
      restartPolicy: spec.restartPolicy ?? 'Always',
      terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? 30,
      dnsPolicy: spec.dnsPolicy ?? 'ClusterFirst',
      serviceAccountName: account,
      serviceAccount: account,
      securityContext: spec.securityContext ?? {},
      schedulerName: spec.schedulerName ?? 'default-scheduler',
      enableServiceLinks: spec.enableServiceLinks ?? true,
      preemptionPolicy: spec.preemptionPolicy ?? 'PreemptLowerPriority',
      priority: spec.priority ?? 0,
      tolerations: withNodeTolerations(spec.tolerations as readonly JsonObject[] | undefined),
    }),
    status: pod.status ?? {},
  });
}

/** Pods stay for 300 s on a node that is not ready or not reachable, unless they say otherwise. */
function withNodeTolerations(given: readonly JsonObject[] | undefined): readonly JsonObject[] {
  const tolerations = [...(given ?? [])];
  for (const key of ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']) {
    const known = tolerations.some(
      (one) =>
        (one.key === undefined || one.key === key) &&
        (one.effect === undefined || one.effect === 'NoExecute'),
    );
    if (!known) tolerations.push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });
  }
  return tolerations;
}

interface Amounts extends JsonObject {
  readonly limits?: JsonObject;
  readonly requests?: JsonObject;
}

/** The quality-of-service class: Guaranteed when all limits are set and equal to the requests. */
export function qosClass(pod: Pod): string {
  const amounts = pod.spec.containers.map((container) => (container.resources ?? {}) as Amounts);
  const any = amounts.some(({ limits, requests }) => limits !== undefined || requests !== undefined);
  if (!any) return 'BestEffort';
  const full = amounts.every(({ limits, requests }) =>
    ['cpu', 'memory'].every(
      (name) => limits?.[name] !== undefined && (requests?.[name] ?? limits[name]) === limits[name],
    ),
  );
  return full ? 'Guaranteed' : 'Burstable';
}
