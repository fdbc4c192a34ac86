// All controllers of a lab.
import type { Cidr } from '../../model/address.ts';
import type { ControllerContext } from './controller-context.ts';
import { startEndpointSliceController } from './endpoint-slice-controller.ts';
import { startKubelet } from './kubelet.ts';
import { startLoadBalancerController } from './load-balancer-controller.ts';
import type { PodHost } from './pod-host.ts';
import { startScheduler } from './scheduler.ts';

export interface ControllerOptions {
  readonly host: PodHost;
  /** Addresses for Services of type LoadBalancer, at most one range per family. */
  readonly loadBalancerPool: readonly Cidr[];
}

/** Starts the scheduler, the kubelet, and the controllers of EndpointSlices and load balancers. Disposing stops them. */
export function startControllers(context: ControllerContext, options: ControllerOptions): AsyncDisposable {
  const stack = new AsyncDisposableStack();
  stack.use(startEndpointSliceController(context));
  stack.use(startLoadBalancerController(context, options.loadBalancerPool));
  stack.use(startKubelet(context, options.host));
  stack.use(startScheduler(context));
  return stack;
}
