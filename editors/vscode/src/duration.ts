/** Durations for people. */

/** `1.2 ms`: three digits at most. */
export function duration(seconds: number): string {
  if (!(seconds >= 0)) return '';
  if (seconds < 1e-3) return `${digits(seconds * 1e6)} µs`;
  if (seconds < 1) return `${digits(seconds * 1e3)} ms`;
  if (seconds < 60) return `${digits(seconds)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

function digits(number: number): string {
  if (number >= 100 || number === 0) return number.toFixed(0);
  return number >= 10 ? number.toFixed(1) : number.toFixed(2);
}
