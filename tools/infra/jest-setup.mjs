import { spawnGuard } from './spawn-guard.mjs';

/** One guard per Jest run. No server starts before a test asks for it, so a run of pure tests costs nothing. */
export default function setup() {
  const { folder, guard } = spawnGuard();
  globalThis.gatewayInfraGuard = guard;
  // Workers inherit it; libs/testing reads it.
  process.env.GATEWAY_INFRA_SOCKET = `${folder}/guard.sock`;
}
