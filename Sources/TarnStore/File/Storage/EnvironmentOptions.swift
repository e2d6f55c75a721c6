/// How a store's file is opened.
package struct EnvironmentOptions: Hashable, Sendable {
  package enum Durability: Hashable, Sendable {
    /// A commit returns when its bytes are synced to disk.
    case strict
    /// Commits are not synced. A power loss may leave an unreadable file, so this is for stores
    /// that need not survive one. The death of a process does no harm.
    case none
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
  package var durability = Durability.strict
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
