// Gives Services of type LoadBalancer their addresses; a deleted or changed Service gives them back.
import { type Address, type Cidr, cidrText } from '../../model/address.ts';
import type { Service } from '../api/resources/service/types.ts';
import { type ControllerContext, settle } from './controller-context.ts';
import { recordEvent } from './event-recorder.ts';
import { ingressOf, loadBalancing, sameIngress } from './load-balancer.ts';
import { createObjectCache, type ObjectCache, objectKey } from './object-cache.ts';
import { createWorkQueue } from './work-queue.ts';

const COMPONENT = 'service-controller';

export function startLoadBalancerController(context: ControllerContext, pool: readonly Cidr[]): Disposable {
  const { api } = context;
  const stack = new DisposableStack();
  const holders = new Map<Address, string>();
  const waiting = new Set<string>();
  const queue = stack.use(createWorkQueue(sync));
  const services: ObjectCache<Service> = stack.use(
    createObjectCache<Service>(api, 'services', (before, after) => {
      const service = after ?? before;
      if (service === undefined) return;
      const key = objectKey(service);
      note(key, before, after);
      if (after !== undefined) queue.add(key);
      else waiting.delete(key);
    }),
  );
  return stack;

  function note(key: string, before: Service | undefined, after: Service | undefined): void {
    const next = new Set((after === undefined ? [] : ingressOf(after)).map(({ ip }) => ip));
    for (const { ip } of before === undefined ? [] : ingressOf(before)) {
      if (ip === undefined || next.has(ip) || holders.get(ip) !== key) continue;
      holders.delete(ip);
      for (const other of waiting) queue.add(other);
    }
    for (const ip of next) if (ip !== undefined && !holders.has(ip)) holders.set(ip, key);
  }

  function sync(key: string): void {
    const [namespace = '', name = ''] = key.split('/');
    const service = services.get(namespace, name);
    if (service === undefined) return;
    const result = loadBalancing(service, pool, (address) => (holders.get(address) ?? key) !== key);
    if (result.kind === 'exhausted') {
      if (!waiting.has(key))
        recordEvent(context, service, {
          type: 'Warning',
          reason: 'SyncLoadBalancerFailed',
          message: result.because,
          component: COMPONENT,
        });
      waiting.add(key);
      return;
    }
    waiting.delete(key);
    if (result.kind === 'none' || sameIngress(ingressOf(service), result.ingress)) return;
    const { ingress } = result;
    const loadBalancer = ingress.length === 0 ? {} : { ingress };
    const next = { ...service, status: { ...service.status, loadBalancer } };
    const written = settle(
      context,
      `status of Service ${key}`,
      api.updateStatus('services', next, { manager: COMPONENT }),
    );
    if (written === undefined || ingress.length === 0) return;
    const message = `the lab gave it ${ingress.map(({ ip }) => ip).join(' and ')} of ${pool.map(cidrText).join(' and ')}`;
    recordEvent(context, service, {
      type: 'Normal',
      reason: 'EnsuredLoadBalancer',
      message,
      component: COMPONENT,
    });
  }
}
