/// How a store's file is opened.
package struct EnvironmentOptions: Hashable, Sendable {
  /// The durability of a commit, the weakest first. The death of a process never does harm.
  package enum Durability: Int, Comparable, Sendable {
    /// Nothing. A power failure may leave an unreadable file. All openers of a file have this, or
    /// none.
    case relaxed
    /// The pages are synced before the header page is written, which is synced with the pages of
    /// the next commit. A power failure leaves the version of the last commit or of the one before.
    case consistent
    /// The header page is synced as well: the commit survives a power failure.
    case full

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
  }

  /// How much address space all stores of this process may reserve.
  package struct MapBudget: Hashable, Sendable {
    /// Beyond that many bytes, further stores get less. A quarter of the 47 bits that Linux gives a
    /// process; the rest is for everything else.
    package var byteCount = 1 << 45
    /// The initial size of such a further store, unless four times its file is more.
    package var smallMapByteCount = 8 << 30
    package init() {}
  }

  /// Creates nothing and writes nothing; the file must exist.
  package var isReadOnly = false
  /// Whether a store is created where there is none. If not, a file that is deleted while it is
  /// being opened does not come back as an empty one.
  package var createsStore = true
  package var durability = Durability.full
  /// Whether to open a file of which pages may be missing, for a check; see `UseMark`. All pages
  /// are read from the disk before.
  package var examines = false
  /// Whether reading compares the checksums of long values, which takes about as long as reading
  /// them.
  package var comparesSums = false
  /// Whether commits change pages in the map, which takes a third of the time. Only for a store in
  /// memory, which one process has: LMDB makes the file as long as the map, so its length would not
  /// show damage, each process would need the same map, and a full disk would end a process by
  /// SIGBUS. LMDB: MDB_WRITEMAP.
  var writesThroughMap = false
  /// Address space to reserve, in bytes; halved as often as needed if the process cannot reserve
  /// it.
  package var mapByteCount = 1 << 40
  package var budget = MapBudget()
  /// The number of read transactions of all processes. The first process to open the file decides.
  package var readerCount = 4096

  /// How long opening waits for other processes that open the same store. Opening takes
  /// milliseconds, so a longer wait means that a process was stopped while opening.
  package var deadline = Deadline(after: .seconds(10))

  package init() {}
}
