import Foundation
import Testing

/// The checks on the real tree. Each finding is a line that an editor can jump to.
@Suite struct TreeTests {
  private func expectNone(_ findings: [Finding], _ position: SourceLocation = #_sourceLocation) {
    let text = findings.map(\.description).joined(separator: "\n")
    #expect(findings.isEmpty, "\(text)", sourceLocation: position)
  }

  private func expectNone(
    _ check: (SourceFile) -> [Finding], _ position: SourceLocation = #_sourceLocation
  ) {
    expectNone(SourceTree.files.flatMap(check), position)
  }

  @Test func theTreeIsFound() {
    let modules = Set(SourceTree.files.map(\.module))
    for module in ["Sources/TarnStore", "Sources/Tarn", "Sources/CTarn", "Tests/TidyTests"] {
      #expect(modules.contains(module))
    }
  }

  @Test func noFileIsTooLong() { expectNone(SizeChecks.fileLength) }
  @Test func noLineIsTooWide() { expectNone(SizeChecks.lineWidth) }
  @Test func noFunctionIsTooLong() { expectNone(SizeChecks.functionLength) }
  @Test func fileNamesAreUniqueInAModule() {
    expectNone(SizeChecks.uniqueNames(SourceTree.files))
  }
  @Test(arguments: [Layers.engine, .library])
  func everyLayerIsThere(_ layers: Layers) {
    #expect(LayerChecks.emptyLayers(SourceTree.files, layers) == [])
  }

  @Test(arguments: [Layers.engine, .library])
  func everyFileIsInALayer(_ layers: Layers) {
    expectNone(LayerChecks.everyFileHasALayer(SourceTree.files, layers))
  }

  /// Where a reader of a wing begins.
  @Test(arguments: [Layers.engine, .library])
  func everyWingHasAFace(_ layers: Layers) throws {
    for wing in layers.wings {
      let face = SourceTree.root.appendingPathComponent("\(layers.module)/\(wing.name)/README.md")
      let lines = try String(contentsOf: face, encoding: .utf8).split(separator: "\n")
      let headings = lines.filter { $0.hasPrefix("## ") }.map { $0.dropFirst(3) }
      #expect(
        headings == ["Rooms", "What it offers", "Invariants", "Where to begin"], "\(wing.name)")
      let listed = lines.filter { $0.hasPrefix("- `") }.compactMap { line in
        line.split(separator: "`").dropFirst().first.map(String.init)
      }
      let rooms = wing.rooms.isEmpty ? [] : wing.rooms
      #expect(Array(listed.prefix(rooms.count)) == rooms.reversed(), "\(wing.name)")
    }
  }

  /// The article lists the highest layer first.
  @Test(arguments: [Layers.engine, .library])
  func theArchitectureShowsTheLayers(_ layers: Layers) throws {
    let article = try String(
      contentsOf: SourceTree.root.appendingPathComponent(
        "Sources/Tarn/Documentation.docc/Architecture.md"), encoding: .utf8)
    let lines = article.split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex { $0.hasPrefix("The folders of `\(layers.name)`") })
    let list = lines[start...].drop { !$0.hasPrefix("    ") }.prefix { $0.hasPrefix("    ") }
    let folders = list.compactMap { $0.split(separator: " ").first.map(String.init) }
    #expect(folders.reversed() == layers.folders)
  }

  @Test func onlyStorageTalksToLMDB() { expectNone(LayerChecks.lmdbImport) }
  @Test func locksCanBeFollowed() { expectNone(LayerChecks.mutexInUse) }
  @Test func trapsSpeak() { expectNone(WordChecks.trapsSpeak) }

  @Test func marksAreFoundByBytes() { expectNone(CharacterChecks.noMarksByCharacter) }

  @Test func noTestSleeps() { expectNone(WordChecks.noSleepInTests) }
  @Test func timeLimitsOnlyEndTestsThatHang() {
    expectNone(WordChecks.limitsOnlyEndWhatHangs)
  }
  @Test func uncheckedPromisesHaveReasons() { expectNone(WordChecks.reasonsForUnchecked) }
  @Test func whatIsPublicIsDocumented() { expectNone(WordChecks.documentedPublic) }
  @Test func everyPublicErrorHasASentence() {
    expectNone(WordChecks.sentencesOfErrors(SourceTree.files))
  }
  @Test func noMarkersAreLeft() { expectNone(WordChecks.noMarkers) }
  @Test func noPapersFromOutsideAreMentioned() { expectNone(WordChecks.noForeignPapers) }
  @Test func noCodesOfPapersAreUsed() { expectNone(WordChecks.noForeignCodes) }
  @Test func everyCFunctionIsExplained() { expectNone(WordChecks.commentsOnC(SourceTree.files)) }
}
