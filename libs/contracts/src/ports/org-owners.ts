/** The owners of an organization. Drivers: database in process (keys service); HTTP. */
export abstract class OrgOwners {
  /**
   * Their addresses, for what concerns the organization as a whole. Throws ApiError `service_unavailable` where nobody
   * could say.
   */
  abstract emails(orgId: string): Promise<string[]>;
}
