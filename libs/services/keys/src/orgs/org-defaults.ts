import type { CreateOrgBody } from '@gateway/contracts';
import { ConfigError } from '@gateway/platform';
import type { GatewayConfig, GatewayFile } from '@gateway/providers';
import { configFaultsOf, gatewayFile } from '@gateway/upstream';
import type { KeysConfig } from '../keys.config.js';
import { orgFaults } from './org.js';

/** Defaults of a new organization, where its creator sets nothing else. */
export type OrgDefaults = GatewayConfig['organizations'];

/** Nest token of OrgDefaults. */
export const ORG_DEFAULTS = Symbol('OrgDefaults');

export const NEW_ORG = { tier: 'standard', rpm_limit: null, rpd_limit: null } as const;

/** Returns the defaults of the operator's file; none without a file. Throws ConfigError with all faults. */
export function orgDefaultsOf({ GATEWAY_CONFIG }: Pick<KeysConfig, 'GATEWAY_CONFIG'>): OrgDefaults {
  const file = gatewayFile({ GATEWAY_CONFIG });
  const faults = configFaultsOf({ faults: [...file.faults, ...orgDefaultFaults(file)] });
  if (faults.length > 0) throw new ConfigError(faults);
  return file.config.organizations;
}

/** Returns the faults of defaults that a create would be refused for. */
export function orgDefaultFaults(file: GatewayFile): string[] {
  const { organizations } = file.config;
  return orgFaults(organizations, NEW_ORG).map(({ loc, msg }) => file.fault(organizations, loc, msg));
}

/** A body with the defaults for what it does not name; null in it means none. */
export function withDefaults(body: CreateOrgBody, defaults: OrgDefaults): CreateOrgBody {
  const named = Object.entries(body).filter(([, value]) => value !== undefined);
  return { ...defaults, ...(Object.fromEntries(named) as CreateOrgBody & object) };
}
