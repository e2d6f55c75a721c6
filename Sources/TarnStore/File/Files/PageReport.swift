/// The result of a walk over all pages of a file.
package struct PageReport: Equatable, Sendable {
  package internal(set) var transactionID: UInt64 = 0
  package internal(set) var pageSize = 0
  package internal(set) var pageCount = 0
  package internal(set) var branchPages = 0
  package internal(set) var leafPages = 0
  package internal(set) var overflowPages = 0
  package internal(set) var freePages = 0
  /// Pages that nothing refers to: lost space, harmless.
  package internal(set) var unreachablePages = 0
  package internal(set) var entries = 0
  /// One sentence each, at most `PageWalker.problemsMax`; empty if the file is sound.
  package internal(set) var problems: [String] = []

  package var isSound: Bool { problems.isEmpty }
}
