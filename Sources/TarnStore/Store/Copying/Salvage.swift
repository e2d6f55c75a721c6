internal import CTarn
internal import Glibc

/// Reads what can be read of a damaged file: the states of both headers, and clusters of rows in
/// pages that neither of them uses.
///
/// Those pages are free: they hold deleted and former rows as well, and nothing tells which is the
/// newest.
package final class Salvage {
  /// The newer state first. The one before lacks only the last commit, if it is whole.
  package private(set) var states: [SalvagedState] = []
  /// Why a header has no state.
  package private(set) var problems: [String] = []
  private let file: OwnedDescriptor
  private let pages: SalvagedFile
  private let path: String

  /// - Parameters:
  ///   - path: the damaged file; no process may have it open.
  ///   - destination: what is read is kept in nameless files in its folder.
  /// Errors: `.alreadyOpen`; `.notAStore`; `.diskFull`.
  package init(_ path: String, besides destination: String) throws(StorageError) {
    self.path = path
    file = try OwnedDescriptor(opening: path, flags: O_RDONLY, operation: "repair")
    guard let facts = FileFacts.of(descriptor: file.raw), facts.isRegularFile else {
      throw StorageError(.notAStore, operation: "repair", path: path, detail: "it is not a file")
    }
    guard tarn_is_locked_elsewhere(file.raw, DataLocks.shared, 0) == 0 else {
      throw StorageError(
        .alreadyOpen, operation: "repair", path: path,
        detail: SoleUse.users(of: facts.identity) + ". End it first")
    }
    let headers = StoreHeader.each(descriptor: file.raw, path: path)
    guard let size = headers.first?.pageSize else {
      throw StorageError(
        .notAStore, operation: "repair", path: path,
        detail: "neither of its first two pages is the header of a store")
    }
    if headers.count < 2 { problems.append("one of the first two pages is damaged") }
    pages = SalvagedFile(file.raw, byteCount: facts.byteCount, pageSize: size)
    var seen: [[UInt64]] = []
    var trees: [TreeSalvage] = []
    for header in headers where header.pageSize == size {
      trees.append(TreeSalvage(pages, root: header.main.root, isSound: SalvagedState.isSound))
      seen.append(pages.forgetSeen())
    }
    for one in seen { pages.see(one) }
    for (index, tree) in trees.enumerated() {
      do throws(StorageError) {
        let spare = index == 0 ? trees.dropFirst().first : trees.first
        states.append(try SalvagedState(tree, spare: spare, of: pages, besides: destination))
      } catch {
        guard error.code == .corrupted || error.code == .notAStore else { throw error }
        problems.append(
          (index == 0 ? "the newest version" : "the version before") + ": \(error.detail)")
      }
    }
  }

  /// Calls `body` with each sound cluster of a class in a page that no state uses.
  package func forEachUnusedCluster(
    of described: ClassSchema, _ body: (ClusterImage) throws -> Void
  ) throws {
    for number in 2..<max(2, pages.pageCount) where !pages.isSeen(number) {
      guard let bytes = pages.bytes(ofPage: number),
        let page = SalvagedPage(bytes, number: number), !page.isBranch
      else { continue }
      for node in page.nodes {
        guard let node, isCluster(node.key, described.id),
          let value = TreeSalvage.find(node, of: page, number, in: pages, { !pages.isSeen($0) }).1,
          SalvagedState.isSound(node.key, value)
        else { continue }
        let bytes = Array(value)
        try unsafe bytes.withUnsafeBytes {
          guard let image = try? unsafe ClusterImage(validating: $0), image.rowCount > 0,
            (try? image.checkRows(described)) != nil
          else { return }
          try body(image)
        }
      }
    }
  }

  private func isCluster(_ key: [UInt8], _ id: ClassID) -> Bool {
    unsafe key.withUnsafeBytes { unsafe TreeKey.parseCluster($0)?.classID == id }
  }
}
