import { RequestContents, type ErasedEndUser, type UnitContent } from '@gateway/contracts';

/** Contents in memory, and erasures that a test has put in. `faults` are thrown by the next writes, one each. */
export class RequestContentsDouble extends RequestContents {
  readonly kept: UnitContent[] = [];
  readonly faults: Error[] = [];
  readonly erased: ErasedEndUser[] = [];
  /** Pages of so many. */
  atOnce = 100;
  isUnavailable = false;
  asked = 0;

  override async keep(contents: readonly UnitContent[]): Promise<void> {
    const fault = this.faults.shift();
    if (fault) throw fault;
    this.kept.push(...contents);
  }

  override async erasedSince(since: Date): Promise<{ erased: ErasedEndUser[]; isAll: boolean }> {
    this.asked += 1;
    if (this.isUnavailable) throw new Error('The usage service is away.');
    const found = this.erased
      .filter(({ erasedAtMs }) => erasedAtMs >= since.getTime())
      .toSorted((a, b) => a.erasedAtMs - b.erasedAtMs);
    return { erased: found.slice(0, this.atOnce), isAll: found.length <= this.atOnce };
  }
}
