import { ErasedEndUsers, type ErasedEndUser } from '@gateway/contracts';

/** Erasures that a test has put in. */
export class ErasedEndUsersDouble extends ErasedEndUsers {
  readonly erased: ErasedEndUser[] = [];
  /** Pages of so many. */
  atOnce = 100;
  isUnavailable = false;
  asked = 0;

  override async since(since: Date): Promise<{ erased: ErasedEndUser[]; isAll: boolean }> {
    this.asked += 1;
    if (this.isUnavailable) throw new Error('The usage service is away.');
    const found = this.erased
      .filter(({ erasedAtMs }) => erasedAtMs >= since.getTime())
      .toSorted((a, b) => a.erasedAtMs - b.erasedAtMs);
    return { erased: found.slice(0, this.atOnce), isAll: found.length <= this.atOnce };
  }
}
