import { ApiError } from '@gateway/contracts';
import { SocketBudget, type Place } from './socket-room.js';

function claimed(room: SocketBudget, accountId: string): Place | string {
  try {
    return room.claim(accountId);
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

describe('the room of WebSockets', () => {
  it('ends at 4,096 connections, those included that have not said who they are', () => {
    const room = new SocketBudget();
    const places = Array.from({ length: 4_096 }, () => room.enter());
    expect(places).not.toContain(null);
    expect(room.enter()).toBeNull();
    places[0]?.();
    places[0]?.();
    expect(room.enter()).not.toBeNull();
    expect(room.enter()).toBeNull();
  });

  it('has 512 places for one account, so that none takes all of them', () => {
    const room = new SocketBudget();
    const places = Array.from({ length: 512 }, () => room.claim('acct_1'));
    expect(claimed(room, 'acct_1')).toBe('concurrent_sessions_exceeded');
    expect(claimed(room, 'acct_2')).toBeInstanceOf(Function);
    places[7]();
    places[7]();
    expect(claimed(room, 'acct_1')).toBeInstanceOf(Function);
    expect(claimed(room, 'acct_1')).toBe('concurrent_sessions_exceeded');
  });
});
