import { RequestContents, type UnitContent } from '@gateway/contracts';

/** Contents in memory. `faults` are thrown by the next writes, one each. */
export class RequestContentsDouble extends RequestContents {
  readonly kept: UnitContent[] = [];
  readonly faults: Error[] = [];

  override async keep(contents: readonly UnitContent[]): Promise<void> {
    const fault = this.faults.shift();
    if (fault) throw fault;
    this.kept.push(...contents);
  }
}
