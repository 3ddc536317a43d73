import { ApiError, type Random } from '@gateway/contracts';
import { unavailable } from './unavailable.js';

/** The services of the fleet, by the name of their library. */
export type ServiceName = 'edge' | 'catalogue' | 'keys' | 'usage' | 'notifications' | 'workers';

/** Names what a person misses while a service is unreachable, in words of the product. */
const MISSED: Readonly<Record<ServiceName, string>> = {
  edge: 'Inference is',
  catalogue: 'Models and their prices are',
  keys: 'Sign-in, API keys and organizations are',
  usage: 'Usage, limits in use and billing are',
  notifications: 'Alerts are',
  workers: 'Files, batches, videos and stored responses are',
};

/** 503 where a service of the fleet gave no answer: it says which part of the product is away. */
export function serviceUnavailable(service: ServiceName, random: Random, cause: unknown): ApiError {
  const message = `${MISSED[service]} unavailable for the moment.`;
  return unavailable(random, cause, { message });
}
