/** Nest token of ServiceSecrets. */
export const SERVICE_SECRETS = Symbol('ServiceSecrets');
