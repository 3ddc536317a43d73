import { Injectable } from '@nestjs/common';
import { ApiError } from '@gateway/contracts';

/** Connections of one process, those included that have not said who they are. */
const SOCKETS_MAX = 4_096;
/** Number of sockets of one account: one customer cannot take all of them. */
const ACCOUNT_SOCKETS_MAX = 512;

/** Gives a taken socket back; the second call does nothing. */
export type Place = () => void;

/** Numbers of open WebSockets, in all and by account, whatever they are for. */
@Injectable()
export class SocketBudget {
  private open = 0;
  private readonly accounts = new Map<string, number>();

  /** Null where the process has as many as it can serve. */
  enter(): Place | null {
    if (this.open >= SOCKETS_MAX) return null;
    this.open += 1;
    return once(() => (this.open -= 1));
  }

  /** Throws ApiError where the account has as many as it may. */
  claim(accountId: string): Place {
    const count = this.accounts.get(accountId) ?? 0;
    if (count >= ACCOUNT_SOCKETS_MAX)
      throw new ApiError('concurrent_sessions_exceeded', {
        message: `The account has ${ACCOUNT_SOCKETS_MAX} WebSocket connections to this instance.`,
      });
    this.accounts.set(accountId, count + 1);
    return once(() => {
      const left = (this.accounts.get(accountId) ?? 1) - 1;
      if (left === 0) this.accounts.delete(accountId);
      else this.accounts.set(accountId, left);
    });
  }
}

/** Returns a place that calls `leave` once. */
export function once(leave: () => unknown): Place {
  let isLeft = false;
  return () => {
    if (isLeft) return;
    isLeft = true;
    leave();
  };
}
