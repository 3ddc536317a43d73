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
}
