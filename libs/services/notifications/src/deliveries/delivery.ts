import type { ChannelType } from '@gateway/contracts';

/** A delivery whose lease this process holds: it may be sent once. */
export interface Claimed {
  id: string;
  /** Id of this attempt: Service-Delivery-Id. */
  attemptId: string;
  n: number;
  /** Failures before this attempt. */
  failures: number;
  /** True for a delivery sent again by a person, or a test: once, and it never counts for or against its channel. */
  isByHand: boolean;
  channelId: string;
  channelType: ChannelType;
  destination: string;
  eventId: string;
  eventType: string;
  /** Body, to the byte as it is sent. */
  body: string;
}

/** A request and its answer, for the log. */
export interface Exchange {
  requestHeaders: Record<string, string>;
  responseHeaders: Record<string, string> | null;
  responseBody: string | null;
  isCut: boolean;
}

/** The end of an attempt. */
export type Outcome =
  | { kind: 'delivered'; httpStatus: number | null; exchange: Exchange | null }
  | {
      kind: 'failed';
      httpStatus: number | null;
      error: string;
      exchange: Exchange | null;
      retryAfterMs: number | null;
      /** The receiver said that it will never take one again. */
      isGone: boolean;
    }
  | { kind: 'blocked'; error: string };
