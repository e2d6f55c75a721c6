import Foundation
import Testing

/// The order of folders in both libraries, and their sizes.
@Suite struct LayerTests {
  private func expectNone(
    _ findings: [Finding], atMost debt: Int = 0, _ position: SourceLocation = #_sourceLocation
  ) {
    let text = findings.map(\.description).joined(separator: "\n")
    #expect(
      findings.count <= debt, "\(findings.count), of which there may be \(debt):\n\(text)",
      sourceLocation: position)
  }

  @Test(.enabled(if: SymbolIndex.isExpected), arguments: [Layers.engine, .library, .sync])
  func noFolderUsesOneAboveIt(_ layers: Layers) throws {
    let uses = try SymbolIndex.tree.get().uses
    expectNone(LayerChecks.upwardUses(uses, layers), atMost: layers.debts.upwardUses)
    expectNone(LayerChecks.fulfilments(uses, layers))
  }

  @Test(.enabled(if: SymbolIndex.isExpected), arguments: [Layers.engine, .library, .sync])
  func noFoldersUseEachOther(_ layers: Layers) throws {
    expectNone(LayerChecks.circles(try SymbolIndex.tree.get().uses, layers))
  }

  @Test(.enabled(if: SymbolIndex.isExpected), arguments: [Layers.engine, .library, .sync])
  func noKnotIsTooLarge(_ layers: Layers) throws {
    expectNone(LayerChecks.largeKnots(try SymbolIndex.tree.get().uses, layers))
  }

  /// Else nothing would be found in a file, whatever it uses.
  @Test(.enabled(if: SymbolIndex.isExpected), arguments: [Layers.engine, .library, .sync])
  func theIndexHasEveryFile(_ layers: Layers) throws {
    let known = try SymbolIndex.tree.get().files
    let files = SourceTree.files.filter { $0.isSwift && layers.index(of: $0.path) != nil }
    #expect(files.map(\.path).filter { !known.contains($0) } == [])
  }

  @Test(arguments: [Layers.engine, .library, .sync])
  func noRoomIsTooLarge(_ layers: Layers) {
    expectNone(LayerChecks.largeRooms(SourceTree.files, layers))
  }

  @Test(arguments: [Layers.engine, .library, .sync])
  func testsLieInTheRoomThatTheyTest(_ layers: Layers) {
    expectNone(LayerChecks.testsOutsideRooms(SourceTree.files, layers))
  }

  @Test func noFolderIsInBothLibraries() {
    #expect(LayerChecks.sharedNames(.engine, .library) == [])
  }

  @Test func neitherLibraryOwesAnything() {
    #expect(Layers.engine.debts == Debts())
    #expect(Layers.library.debts == Debts())
    #expect(Layers.sync.debts == Debts())
  }

  // MARK: - The checks themselves

  @Test func testsInTheFolderOfNoRoom() {
    let paths = [
      "Results/WindowTests", "Support/Shelter", "Rows/RowTests", "RootTests", "Storage/OldTests",
    ]
    let files = paths.map { SourceFile(path: "Tests/TarnTests/\($0).swift", text: "") }
    let found = LayerChecks.testsOutsideRooms(files, .library).map(\.path)
    #expect(
      found
        == ["Rows/RowTests", "RootTests", "Storage/OldTests"].map {
          "Tests/TarnTests/\($0).swift"
        })
    #expect(LayerChecks.testsOutsideRooms(files, .engine) == [])
  }

  /// Compiled with these tests, so that the index has them.
  private let samples = Layers(module: "Tests/TidyTests/Samples", folders: ["Base", "Top"])

  /// The lines of the lower sample with a mark.
  private func marked(_ mark: String) throws -> [Int] {
    let file = try #require(
      SourceTree.files.first { $0.path == "\(samples.module)/Base/Pond.swift" })
    return file.lines.indices.filter { file.lines[$0].contains("// \(mark)") }.map { $0 + 1 }
  }

  @Test(.enabled(if: SymbolIndex.isExpected)) func findsWhatIsDeclaredAbove() throws {
    let found = LayerChecks.upwardUses(try SymbolIndex.tree.get().uses, samples)
    #expect(Set(found.map(\.path)) == ["Tests/TidyTests/Samples/Base/Pond.swift"])
    #expect(Set(found.map(\.line)).sorted() == (try marked("upward")))
    let text = found.map(\.message)
    let home = "which Top above it declares at Tests/TidyTests/Samples/Top/Heron.swift"
    #expect(text.contains("Base uses heronCount, \(home):4"))
    #expect(text.contains("Base uses Heron, \(home):2"))
    #expect(text.contains("Base uses wadeThrough(_:), \(home):13"))
    #expect(text.contains("Base uses Dam, \(home):15"))
  }

  @Test(.enabled(if: SymbolIndex.isExpected)) func findsWhatIsFulfilledAbove() throws {
    let found = LayerChecks.fulfilments(try SymbolIndex.tree.get().uses, samples)
    #expect(found.map(\.line) == (try marked("fulfilled above")))
    let home = "Tests/TidyTests/Samples/Top/Heron.swift:5"
    #expect(
      found.map(\.message) == ["Base conforms by sway(), which Top above it declares at \(home)"])
  }

  @Test func conformancesOfASuperclassAreNotThoseOfItsSubclasses() {
    let file = SourceFile(
      path: "Sources/A.swift",
      text: """
        class Base: Swaying {
        final class Leaf: Base {
        class Twig: Base, Swaying {
        class Plain {
        protocol Swaying: AnyObject {
        """)
    #expect(SymbolIndex.inheritingLines(of: [file]) == ["Sources/A.swift": [2]])
  }

  @Test(.enabled(if: SymbolIndex.isExpected)) func findsKnotsAndCircles() throws {
    let uses = try SymbolIndex.tree.get().uses
    let files = ["Base/Pond.swift", "Top/Heron.swift"].map { "\(samples.module)/\($0)" }
    #expect(LayerChecks.knots(uses, samples) == [files])
    #expect(LayerChecks.largeKnots(uses, samples).isEmpty)
    var strict = samples
    strict.debts.filesInAKnot = 1
    let named = LayerChecks.largeKnots(uses, strict)
    #expect(Set(named.map(\.path)) == Set(files))
    let circle = LayerChecks.circles(uses, samples)
    #expect(circle.count == 2)
    #expect(circle.first?.path == files[0])
    #expect(circle.first?.message.hasPrefix("circle of 2 folders: uses ") == true)
    strict.debts.foldersInACircle = 2
    #expect(LayerChecks.circles(uses, strict).isEmpty)
  }

  @Test func knotsAreWhatReachesEachOther() {
    let next: [Int: Set<Int>] = [
      1: [2, 5], 2: [3], 3: [1, 4], 4: [], 5: [6], 6: [5, 4], 7: [1, 7],
    ]
    #expect(Knots.all(in: next) == [[1, 2, 3], [5, 6]])
    #expect(Knots<Int>.all(in: [:]).isEmpty)
  }

  private func file(_ path: String, lines: Int = 1) -> SourceFile {
    SourceFile(path: path, text: String(repeating: "//\n", count: lines))
  }

  @Test func findsRoomsThatAreTooLarge() {
    var pond = Layers(module: "Sources/Pond", folders: ["Base", "Top"])
    let many = (0..<30).map { file("Sources/Pond/Base/File\($0).swift") }
    let long = (0..<7).map { file("Sources/Pond/Top/Long\($0).swift", lines: 500) }
    #expect(LayerChecks.largeRooms(many + long, pond).isEmpty)
    let others = [file("Sources/Pond/Base/notes.h"), file("Sources/Lake/Base/A.swift")]
    #expect(LayerChecks.largeRooms(many + others, pond).isEmpty)
    let more = many + long + [file("Sources/Pond/Base/A.swift"), file("Sources/Pond/Top/A.swift")]
    #expect(
      LayerChecks.largeRooms(more, pond).map(\.description) == [
        "Sources/Pond/Base:1: 31 files, 31 lines: more than 30 files, 3500 lines",
        "Sources/Pond/Top:1: 8 files, 3501 lines: more than 30 files, 3500 lines",
      ])
    pond.debts.rooms["Base"] = RoomSize(files: 31, lines: 31)
    #expect(LayerChecks.largeRooms(more, pond).map(\.path) == ["Sources/Pond/Top"])
  }

  @Test func roomsOfWingsAreLayers() {
    let pond = Layers(
      module: "Sources/Pond", wings: [("Bank", ["Reed", "Mud"]), ("Water", [])])
    #expect(pond.folders == ["Reed", "Mud", "Water"])
    let places = [
      "Bank/Mud/A.swift": "Mud", "Water/B.swift": "Water", "Bank/C.swift": nil,
      "Mud/D.swift": nil, "Bank/Water/E.swift": nil,
    ]
    for (path, folder) in places {
      #expect(pond.folder(of: "Sources/Pond/\(path)") == folder, "\(path)")
    }
  }

  @Test func findsFoldersOfOneName() {
    let pond = Layers(module: "Sources/Pond", folders: ["Base", "Top"])
    let lake = Layers(module: "Sources/Lake", folders: ["Ground", "Top"])
    #expect(LayerChecks.sharedNames(pond, lake) == ["Top"])
  }

  @Test func findsFilesInNoLayer() {
    let pond = Layers(module: "Sources/Pond", folders: ["Base", "Top"])
    let files = [
      "Pond/Stray.swift", "Pond/Odd/A.swift", "Pond/Base/B.swift", "Lake/C.swift", "Ponds/D.swift",
    ].map { file("Sources/\($0)") }
    #expect(
      LayerChecks.everyFileHasALayer(files, pond).map(\.path)
        == ["Sources/Pond/Stray.swift", "Sources/Pond/Odd/A.swift"])
    #expect(LayerChecks.emptyLayers(files, pond) == ["Top"])
  }
}

extension Layers: CustomTestStringConvertible {
  var testDescription: String { String(name) }
}
