import TarnStore

extension Realm {
  /// Makes SIGBUS say which file and page it is about.
  ///
  /// Realms read their files through memory maps. If a page cannot be read, because the disk is
  /// damaged or another program has cut the file, the access ends the process with SIGBUS, which no
  /// call can report as an error. After this call, a line on standard error names the file, the
  /// page and the reason before the process ends, for every mapped file of the process. The signal
  /// then goes to the handler from before this call, or ends the process as it would have done, so
  /// core dumps and backtraces stay as they are.
  ///
  /// The library never installs a handler of signals by itself. Call this once when the program
  /// starts, after other code has installed its handler of SIGBUS. Further calls do nothing.
  public static func explainBusErrors() {
    BusErrors.explain()
  }
}
