import type { CreateOrgBody } from '@gateway/contracts';
import { GatewayConfigError, type GatewayConfig } from '@gateway/providers';
import { gatewayConfig, gatewayConfigFault } from '@gateway/upstream';
import type { KeysConfig } from '../keys.config.js';
import { orgFaults } from './org.js';

/** What a new organization begins with where its creator says nothing else. */
export type OrgDefaults = GatewayConfig['organizations'];

/** Nest token of OrgDefaults. */
export const ORG_DEFAULTS = Symbol('OrgDefaults');

export const NEW_ORG = { tier: 'standard', rpm_limit: null, rpd_limit: null } as const;

/** As the operator's file has them; none without a file. Throws ConfigError with all faults. */
export function orgDefaultsOf({ GATEWAY_CONFIG }: Pick<KeysConfig, 'GATEWAY_CONFIG'>): OrgDefaults {
  const config = gatewayConfig({ GATEWAY_CONFIG });
  try {
    checkOrgDefaults(config);
  } catch (failure) {
    throw gatewayConfigFault(failure);
  }
  return config.organizations;
}

/** Holds the defaults to what a create is held to. Throws GatewayConfigError. */
export function checkOrgDefaults({ organizations }: GatewayConfig): void {
  const faults = orgFaults(organizations, NEW_ORG).map(({ msg }) => `organizations: ${msg}`);
  if (faults.length > 0) throw new GatewayConfigError(faults);
}

/** A body with the defaults for what it does not name; null in it means none. */
export function withDefaults(body: CreateOrgBody, defaults: OrgDefaults): CreateOrgBody {
  const named = Object.entries(body).filter(([, value]) => value !== undefined);
  return { ...defaults, ...(Object.fromEntries(named) as CreateOrgBody & object) };
}
