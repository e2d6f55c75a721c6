/// How a store's file is opened.
package struct EnvironmentOptions: Hashable, Sendable {
  package enum Durability: Hashable, Sendable {
    /// A commit returns when its bytes are on the disk.
    case strict
    /// Nothing is waited for. A power loss may leave a file that cannot be read at all, so this
    /// is for stores that nobody expects to survive one. The death of a process harms nothing.
    case none
  }

  /// How much address space the stores of this process take together.
  package struct MapBudget: Hashable, Sendable {
    /// Once they have taken so many bytes, further ones get less. A quarter of the 47 bits that
    /// Linux gives a process: the rest is for everything else.
    package var byteCount = 1 << 45
    /// Bytes for such a further store at first, unless four times its file is more.
    package var smallMapByteCount = 8 << 30
    package init() {}
  }

  /// Creates nothing and writes nothing; the file must be there.
  package var isReadOnly = false
  package var durability = Durability.strict
  /// Address space to take, in bytes; halved as often as needed where the process may not have it.
  package var mapByteCount = 1 << 40
  package var budget = MapBudget()
  /// Read transactions of all processes together. The first process to open the file decides.
  package var readerCount = 4096

  /// How long opening waits for other processes that open the same store. Opening takes
  /// milliseconds, so longer than that is waited only for one that was stopped in it.
  package var deadline = Deadline(after: .seconds(10))

  package init() {}
}
