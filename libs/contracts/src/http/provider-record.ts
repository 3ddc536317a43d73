import type { BreakerState, HealthState, ProviderError } from '../ports/route-health.js';
import type { ProviderHealth } from './model-view.js';

/** A provider of the catalogue, as a super admin sees it; its health is that of all models that it serves. */
export interface ProviderRecord extends ProviderHealth {
  slug: string;
  name: string;
  /** Wire formats that it speaks. */
  dialects: string[];
  regions: string[];
  zero_retention: boolean | null;
  /** false: its routes are out of the catalogue. */
  is_enabled: boolean;
  /** Routes that it has, those of disabled models too. */
  routes: number;
  /** True if the platform has a credential of it; null before any edge has reported. */
  has_credential: boolean | null;
  /** The worst that any edge reported within the last minute; null where none has called it. */
  breaker: BreakerState | null;
  /** The newest of all edges, on the platform's own credential; null where there was none. */
  last_error: ProviderError | null;
  /** The worst that any edge reported of its health path within the last minute; null where it has none. */
  health: HealthState | null;
}
