import { zonesWith } from './zone.js';

describe('the zones that a person can choose', () => {
  it.each(['Asia/Kolkata', 'Asia/Calcutta', 'UTC'])(
    'have their own, %s, once, whatever the browser calls it',
    (own) => {
      expect(zonesWith(own).filter((zone) => zone === own)).toEqual([own]);
    },
  );
});
