/** A provider of the catalogue, as a super admin sees it. */
export interface ProviderRecord {
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
