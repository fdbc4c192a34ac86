// The fields of a Pod. Parts that the lab never looks into (volume sources, affinity, …) are open: taken as they are.
import { LABEL_SELECTOR, resourceSchema } from '../../schema/meta.ts';
import {
  flag,
  flagKept,
  int32,
  int32Kept,
  int64,
  int64Kept,
  intOrString,
  keyed,
  list,
  map,
  type ObjectSchema,
  object,
  open,
  openList,
  quantity,
  type Schema,
  text,
  textKept,
  time,
} from '../../schema/schema.ts';

const CORE = 'io.k8s.api.core.v1';

const RESOURCES: Schema = object(`${CORE}.ResourceRequirements`, {
  limits: map(quantity),
  requests: map(quantity),
  claims: keyed(object(`${CORE}.ResourceClaim`, { name: textKept, request: text }), 'name'),
});

const HTTP_GET: Schema = object(`${CORE}.HTTPGetAction`, {
  path: text,
  port: intOrString,
  host: text,
  scheme: text,
  httpHeaders: list(object(`${CORE}.HTTPHeader`, { name: textKept, value: textKept })),
});
const HANDLER = {
  exec: object(`${CORE}.ExecAction`, { command: list(text) }),
  httpGet: HTTP_GET,
  tcpSocket: object(`${CORE}.TCPSocketAction`, { port: intOrString, host: text }),
};

const PROBE: Schema = object(`${CORE}.Probe`, {
  ...HANDLER,
  grpc: object(`${CORE}.GRPCAction`, { port: int32Kept, service: textKept }),
  initialDelaySeconds: int32,
  timeoutSeconds: int32,
  periodSeconds: int32,
  successThreshold: int32,
  failureThreshold: int32,
  terminationGracePeriodSeconds: int64Kept,
});

const LIFECYCLE_HANDLER: Schema = object(`${CORE}.LifecycleHandler`, {
  ...HANDLER,
  sleep: object(`${CORE}.SleepAction`, { seconds: int64Kept }),
});

const ENV: Schema = object(`${CORE}.EnvVar`, { name: textKept, value: text, valueFrom: open });

const CONTAINER_FIELDS: Readonly<Record<string, Schema>> = {
  name: textKept,
  image: text,
  command: list(text),
  args: list(text),
  workingDir: text,
  ports: keyed(
    object(`${CORE}.ContainerPort`, {
      name: text,
      hostPort: int32,
      containerPort: int32Kept,
      protocol: text,
      hostIP: text,
    }),
    'containerPort',
    'protocol',
  ),
  envFrom: openList,
  env: keyed(ENV, 'name'),
  resources: RESOURCES,
  resizePolicy: openList,
  restartPolicy: textKept,
  restartPolicyRules: openList,
  volumeMounts: keyed(
    object(`${CORE}.VolumeMount`, {
      name: textKept,
      readOnly: flag,
      recursiveReadOnly: textKept,
      mountPath: textKept,
      subPath: text,
      mountPropagation: textKept,
      subPathExpr: text,
    }),
    'mountPath',
  ),
  volumeDevices: keyed(
    object(`${CORE}.VolumeDevice`, { name: textKept, devicePath: textKept }),
    'devicePath',
  ),
  livenessProbe: PROBE,
  readinessProbe: PROBE,
  startupProbe: PROBE,
  lifecycle: object(`${CORE}.Lifecycle`, {
    postStart: LIFECYCLE_HANDLER,
    preStop: LIFECYCLE_HANDLER,
    stopSignal: textKept,
  }),
  terminationMessagePath: text,
  terminationMessagePolicy: text,
  imagePullPolicy: text,
  securityContext: open,
  stdin: flag,
  stdinOnce: flag,
  tty: flag,
};
const CONTAINER: Schema = object(`${CORE}.Container`, CONTAINER_FIELDS);

const SPREAD: Schema = object(`${CORE}.TopologySpreadConstraint`, {
  maxSkew: int32Kept,
  topologyKey: textKept,
  whenUnsatisfiable: textKept,
  labelSelector: LABEL_SELECTOR,
  minDomains: int32Kept,
  nodeAffinityPolicy: textKept,
  nodeTaintsPolicy: textKept,
  matchLabelKeys: list(text),
});

const SPEC: Schema = object(`${CORE}.PodSpec`, {
  volumes: {
    kind: 'list',
    of: open,
    merge: { kind: 'keyed', keys: ['name'], patchKey: 'name' },
    empty: 'dropped',
  },
  initContainers: keyed(CONTAINER, 'name'),
  containers: keyed(CONTAINER, 'name'),
  ephemeralContainers: keyed(
    object(`${CORE}.EphemeralContainer`, { ...CONTAINER_FIELDS, targetContainerName: text }),
    'name',
  ),
  restartPolicy: text,
  terminationGracePeriodSeconds: int64Kept,
  activeDeadlineSeconds: int64Kept,
  dnsPolicy: text,
  nodeSelector: map(text, { atomic: true }),
  serviceAccountName: text,
  serviceAccount: text,
  automountServiceAccountToken: flagKept,
  nodeName: text,
  hostNetwork: flag,
  hostPID: flag,
  hostIPC: flag,
  shareProcessNamespace: flagKept,
  securityContext: open,
  imagePullSecrets: keyed(object(`${CORE}.LocalObjectReference`, { name: text }), 'name'),
  hostname: text,
  subdomain: text,
  affinity: open,
  schedulerName: text,
  tolerations: list(
    object(`${CORE}.Toleration`, {
      key: text,
      operator: text,
      value: text,
      effect: text,
      tolerationSeconds: int64Kept,
    }),
  ),
  hostAliases: keyed(object(`${CORE}.HostAlias`, { ip: textKept, hostnames: list(text) }), 'ip'),
  priorityClassName: text,
  priority: int32Kept,
  dnsConfig: open,
  readinessGates: list(object(`${CORE}.PodReadinessGate`, { conditionType: textKept })),
  runtimeClassName: textKept,
  enableServiceLinks: flagKept,
  preemptionPolicy: textKept,
  overhead: map(quantity),
  topologySpreadConstraints: keyed(SPREAD, 'topologyKey', 'whenUnsatisfiable'),
  setHostnameAsFQDN: flagKept,
  os: object(`${CORE}.PodOS`, { name: textKept }),
  hostUsers: flagKept,
  schedulingGates: keyed(object(`${CORE}.PodSchedulingGate`, { name: textKept }), 'name'),
  resourceClaims: openList,
  resources: RESOURCES,
  hostnameOverride: textKept,
  workloadRef: open,
});

const STATE: Schema = object(`${CORE}.ContainerState`, {
  waiting: object(`${CORE}.ContainerStateWaiting`, { reason: text, message: text }),
  running: object(`${CORE}.ContainerStateRunning`, { startedAt: time }),
  terminated: object(`${CORE}.ContainerStateTerminated`, {
    exitCode: int32Kept,
    signal: int32,
    reason: text,
    message: text,
    startedAt: time,
    finishedAt: time,
    containerID: text,
  }),
});

const CONTAINER_STATUS: Schema = object(`${CORE}.ContainerStatus`, {
  name: textKept,
  state: STATE,
  lastState: STATE,
  ready: flagKept,
  restartCount: int32Kept,
  image: textKept,
  imageID: textKept,
  containerID: text,
  started: flagKept,
  allocatedResources: map(quantity),
  resources: RESOURCES,
  volumeMounts: openList,
  user: open,
  allocatedResourcesStatus: openList,
  stopSignal: textKept,
});

const STATUS: Schema = object(`${CORE}.PodStatus`, {
  observedGeneration: int64,
  phase: text,
  conditions: keyed(
    object(`${CORE}.PodCondition`, {
      type: textKept,
      observedGeneration: int64,
      status: textKept,
      lastProbeTime: time,
      lastTransitionTime: time,
      reason: text,
      message: text,
    }),
    'type',
  ),
  message: text,
  reason: text,
  nominatedNodeName: text,
  hostIP: text,
  hostIPs: list(object(`${CORE}.HostIP`, { ip: textKept })),
  podIP: text,
  podIPs: keyed(object(`${CORE}.PodIP`, { ip: textKept }), 'ip'),
  startTime: time,
  initContainerStatuses: list(CONTAINER_STATUS),
  containerStatuses: list(CONTAINER_STATUS),
  qosClass: text,
  ephemeralContainerStatuses: list(CONTAINER_STATUS),
  resize: text,
  resourceClaimStatuses: openList,
  allocatedResources: map(quantity),
  resources: RESOURCES,
  extendedResourceClaimStatus: open,
});

export const POD_SCHEMA: ObjectSchema = resourceSchema(`${CORE}.Pod`, { spec: SPEC, status: STATUS });
