import { endGuard } from './spawn-guard.mjs';

export default async function teardown() {
  await endGuard(globalThis.gatewayInfraGuard);
}
