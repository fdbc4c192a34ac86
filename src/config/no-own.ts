// For tests, and for who wants none of what only Pointsman has.
import type { OwnOptions } from './proxy-config.ts';

export const NO_OWN: OwnOptions = {
  adminSocket: undefined,
  metricsTls: undefined,
  metricsAuthorization: false,
};
