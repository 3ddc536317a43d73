/** Places, or bytes, that accounts share: none takes more than it leaves free, so that others always find some. */
export class AccountShare {
  private readonly own = new Map<string, number>();
  private taken = 0;

  constructor(private readonly places: number) {}

  /** Takes so many places. False, and nothing is taken, where the account would have more than it leaves free. */
  take(accountId: string, places = 1): boolean {
    const own = this.own.get(accountId) ?? 0;
    if (own + places > this.places - this.taken) return false;
    this.own.set(accountId, own + places);
    this.taken += places;
    return true;
  }

  release(accountId: string, places = 1): void {
    const left = (this.own.get(accountId) ?? 0) - places;
    if (left > 0) this.own.set(accountId, left);
    else this.own.delete(accountId);
    this.taken -= places;
  }
}
