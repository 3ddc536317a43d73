/**
 * A body by which services of the fleet hand each other what callers sent and models wrote: any JSON, in members that nobody
 * looks a row up by. Bounds of callers do not hold for it: it may hold what many of them sent.
 */
export abstract class FleetBody {}
