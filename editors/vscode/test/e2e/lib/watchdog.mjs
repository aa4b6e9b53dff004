// Ends a process in which nothing has moved for a while, and names what hung.
import { endAll } from "./ending.mjs";

export class Watchdog {
  constructor(minutes) {
    this.minutes = minutes;
    this.file = "";
    this.saw("at the start");
  }

  /** The tests of file come now. */
  entered(file) {
    this.file = file;
    this.saw("before the first test");
  }

  /** Records progress at a place. */
  saw(place) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.bark(place), this.minutes * 60_000);
    this.timer.unref();
  }

  async bark(what) {
    console.error(`HUNG: ${this.file}: nothing has happened for ${this.minutes} minutes ${what}`);
    await Promise.race([endAll(), new Promise((done) => setTimeout(done, 10_000))]);
    process.exit(1);
  }
}
