/// An error below the public API, with the operation and the file. Bytes from a disk are never
/// trusted: violations are reported as `.corrupted`.
package struct StorageError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kind of failure. A struct, not an enum, so that switches elsewhere need a default.
  package struct Code: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The file is not a store.
    package static let notAStore = Code(rawValue: 1)
    /// The file is a store whose bytes contradict each other.
    package static let corrupted = Code(rawValue: 2)
    /// The file needs a newer version of this library.
    package static let newerFormat = Code(rawValue: 3)
    package static let permissionDenied = Code(rawValue: 4)
    package static let notFound = Code(rawValue: 5)
    package static let diskFull = Code(rawValue: 6)
    /// The process lacks the address space that the file needs.
    package static let addressSpace = Code(rawValue: 7)
    package static let readersFull = Code(rawValue: 8)
    /// The file at the path is not the one that this process opened.
    package static let replaced = Code(rawValue: 9)
    /// The lock file of the data belongs to another data file, or the reverse.
    package static let identity = Code(rawValue: 10)
    /// The store was opened before this process was forked from its parent.
    package static let forked = Code(rawValue: 11)
    package static let inputOutput = Code(rawValue: 12)
    /// A commit failed in a way that leaves open whether it is on disk.
    package static let outcomeUnknown = Code(rawValue: 13)
    /// An earlier failure closed this store for writing; it must be opened again.
    package static let failed = Code(rawValue: 14)
    /// Another writer committed although this one held the write lock; nothing was written.
    package static let conflict = Code(rawValue: 15)
    package static let schemaMismatch = Code(rawValue: 16)
    package static let invalidInput = Code(rawValue: 17)
    package static let alreadyOpen = Code(rawValue: 18)
    package static let limitExceeded = Code(rawValue: 19)
    /// Another writer held the write lock for longer than the caller would wait.
    package static let busy = Code(rawValue: 20)
    /// Two objects have a combination of values that must be unique.
    package static let notUnique = Code(rawValue: 21)
    /// A program with a higher schema version has used the file.
    package static let olderProgram = Code(rawValue: 22)
    /// No subscription of a replica has objects of the class.
    package static let noSubscription = Code(rawValue: 23)
  }

  package var code: Code
  /// The operation, in a few words: "open", "commit", "read cluster".
  package var operation: String
  package var path: String
  /// A sentence for people: the error and, if there is one, its remedy.
  package var detail: String

  package init(_ code: Code, operation: String, path: String, detail: String) {
    self.code = code
    self.operation = operation
    self.path = path
    self.detail = detail
  }

  package var description: String {
    path.isEmpty ? "\(operation): \(detail)" : "\(operation) \(path): \(detail)"
  }
}
