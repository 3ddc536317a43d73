import { Inject, Injectable } from '@nestjs/common';
import { isOneLine, type ChannelType, type Random } from '@gateway/contracts';
import { RANDOM, unavailable } from '@gateway/platform';
import { DestinationRefused, GuardedHttp } from '@gateway/upstream';
import { isEmail } from 'class-validator';
import { fault } from '../orgs/faults.js';

const ADDRESS_MAX = 254;

/** Judges where a channel wants its events. */
@Injectable()
export class Destinations {
  constructor(
    private readonly http: GuardedHttp,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Throws ApiError `validation_error`; `service_unavailable` where the name could not be looked up. */
  async require(type: ChannelType, destination: string): Promise<void> {
    // The URL parser drops line breaks in silence, and a quoted local part may hold them.
    if (!isOneLine(destination)) throw fault('destination', 'The destination must be one line of text.');
    if (type === 'email') {
      if (destination.length > ADDRESS_MAX || !isEmail(destination))
        throw fault('destination', 'An e-mail channel needs an e-mail address.');
      return;
    }
    try {
      await this.http.check(destination);
    } catch (failure) {
      if (failure instanceof DestinationRefused) throw fault('destination', failure.message);
      throw unavailable(this.random, failure);
    }
  }
}
