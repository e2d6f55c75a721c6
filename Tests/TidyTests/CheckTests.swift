import Testing

/// Each check is shown code that it must refuse and code that it must let pass.
@Suite struct CheckTests {
  private func swift(_ text: String, _ path: String = "Sources/Tarn/Frog.swift") -> SourceFile {
    SourceFile(path: path, text: text)
  }

  private func lines(_ findings: [Finding]) -> [Int] { findings.map(\.line) }

  private func repeated(_ line: String, _ count: Int) -> String {
    String(repeating: line + "\n", count: count)
  }

  @Test func longFiles() {
    #expect(SizeChecks.fileLength(swift(repeated("//", 500))).isEmpty)
    #expect(lines(SizeChecks.fileLength(swift(repeated("//", 501)))) == [501])
  }

  @Test func wideLines() {
    let wide = String(repeating: "ü", count: 101)
    #expect(lines(SizeChecks.lineWidth(swift("let a = 1\n// \(wide)\n"))) == [2])
    #expect(SizeChecks.lineWidth(swift(String(wide.dropLast()))).isEmpty)
  }

  @Test func longSwiftFunctions() {
    let body = repeated("    work(\"}\") // }", 68)
    let good = "struct A {\n  func f(\n    a: Int\n  ) {}\n  func g() {\n\(body)  }\n}\n"
    #expect(SizeChecks.functionLength(swift(good)).isEmpty)
    for head in [
      "func g() {", "init<T>(a: [T] = { [] }()) where T: B {", "deinit {", "var x: Int {",
      "subscript(i: Int) -> Int {",
    ] {
      let bad = "struct A {\n  \(head)\n\(body)    work()\n  }\n}\n"
      #expect(lines(SizeChecks.functionLength(swift(bad))) == [2], "\(head)")
    }
  }

  @Test func whereFunctionsBeginAndEnd() {
    let text = """
      protocol P {
        func required() throws
        var value: Int { get }
      }
      struct A: P {
        var stored = { 1 }()
        func required()
          throws
        {
          call { _ in "\\(x(")"))" }
        }
        init(a: Int) { self.init() }
      }
      """
    let spans = FunctionFinder.functions(in: swift(text))
    #expect(
      spans == [
        FunctionSpan(name: "value", first: 3, last: 3),
        FunctionSpan(name: "required", first: 7, last: 11),
        FunctionSpan(name: "init", first: 12, last: 12),
      ])
  }

  @Test func longCFunctions() {
    let body = repeated("  work('}', \"}\"); /* } */", 69)
    let file = { SourceFile(path: "Tools/BenchFloors/a.c", text: $0) }
    let good = "struct a { int b; };\nstatic int f(void) {\n\(body.dropLast(26))}\nint g(void);\n"
    #expect(SizeChecks.functionLength(file(good)).isEmpty)
    #expect(lines(SizeChecks.functionLength(file("int f(\n  int a) {\n\(body)}\n"))) == [1])
  }

  @Test func twoFilesOfOneName() {
    let files = ["Rows/Cursor.swift", "Storage/Cursor.swift"].map {
      swift("", "Sources/TarnStore/\($0)")
    }
    #expect(SizeChecks.uniqueNames(files).map(\.path) == ["Sources/TarnStore/Storage/Cursor.swift"])
    let apart = [files[0], swift("", "Sources/Tarn/Storage/Cursor.swift")]
    #expect(SizeChecks.uniqueNames(apart).isEmpty)
  }

  @Test func lmdbOutsideStorage() {
    let text = "internal import CLMDB\n"
    #expect(lines(LayerChecks.lmdbImport(swift(text))) == [1])
    #expect(LayerChecks.lmdbImport(swift(text, "Sources/TarnStore/File/Storage/E.swift")).isEmpty)
    #expect(LayerChecks.lmdbImport(swift("// import CLMDB\n")).isEmpty)
    let c = SourceFile(path: "Sources/CTarn/a.c", text: "#include <lmdb.h>\n")
    #expect(lines(LayerChecks.lmdbImport(c)) == [1])
  }

  @Test func mutexesOutsideOfLock() {
    let text = "private let state = Mutex(0)\n"
    #expect(lines(LayerChecks.mutexInUse(swift(text))) == [1])
    #expect(
      LayerChecks.mutexInUse(swift(text, "Sources/TarnStore/File/Threads/Lock.swift")).isEmpty)
    #expect(LayerChecks.mutexInUse(swift("// a Mutex would do\n")).isEmpty)
  }

  @Test func sleepingTests() {
    let text = """
      func t() async {
        try await Task.sleep(for: .x)
        usleep(1)
        let sleep = "sleep(1)"
      }
      """
    #expect(lines(WordChecks.noSleepInTests(swift(text, "Tests/A/T.swift"))) == [2, 3])
    #expect(WordChecks.noSleepInTests(swift(text)).isEmpty)
  }

  @Test func errorsWithoutSentences() {
    let text = """
      public struct A: Error {
      public struct B: Error, Sendable,
        LocalizedError
      {
      public enum C: Swift.Error, Sendable {}
      extension M.C: LocalizedError {}
      struct D: Error {}
      public struct ErrorList: Sendable {
      public final class E: Equatable, CustomStringConvertible,
        Error
      {
      """
    let files = [swift(text, "Sources/A/T.swift"), swift(text, "Tools/A/T.swift")]
    #expect(lines(WordChecks.sentencesOfErrors(files)) == [1, 9])
  }

  @Test func limitsThatABusyMachineReaches() {
    let text = """
      @Test(.timeLimit(.minutes(30))) func a() {}
      @Test(.timeLimit(.minutes(3))) func b() {}
      @Suite(.timeLimit(limit)) struct C {}
      """
    #expect(lines(WordChecks.limitsOnlyEndWhatHangs(swift(text, "Tests/A/T.swift"))) == [2, 3])
    #expect(WordChecks.limitsOnlyEndWhatHangs(swift(text)).isEmpty)
  }

  @Test func findsTrapsThatSayNothing() {
    let text = "precondition(isOpen)\nlet fatalError = 1\nfatalError(text)\ntrap(\"precondition(\")"
    #expect(lines(WordChecks.trapsSpeak(swift(text))) == [1, 3])
    #expect(WordChecks.trapsSpeak(swift(text, "Sources/A/Trap.swift")).isEmpty)
  }

  @Test func marksByCharacter() {
    let text = """
      let a = path.hasPrefix("/")
      let b = line.split(separator: ",")
      let c = line.utf8.split(separator: UInt8(ascii: ","))
      let d = text.replacing("'", with: "''")
      let e = text.unicodeScalars.firstIndex(of: "'")
      let f = text.contains("\\n")
      let g = names.firstIndex(of: name)
      // text.replacing("'", with: "''")
      """
    #expect(lines(CharacterChecks.noMarksByCharacter(swift(text))) == [1, 2, 4, 6])
    #expect(CharacterChecks.noMarksByCharacter(swift(text, "Tests/A/T.swift")).isEmpty)
    #expect(CharacterChecks.noMarksByCharacter(swift(text, "Tools/tarn-bench/A.swift")).isEmpty)
  }

  @Test func uncheckedWithoutReasons() {
    let text = """
      final class A: @unchecked Sendable {}
      final class B: @unchecked Sendable {}  // because: immutable
      // Because its lock is held,
      // always.
      nonisolated(unsafe) var c = 1

      nonisolated(unsafe) var d = "because"
      // @unchecked Sendable
      final class E: @unchecked Sendable {
        // Never changes,
        // because nobody can.
        let f = 1
      }
      """
    #expect(lines(WordChecks.reasonsForUnchecked(swift(text))) == [1, 7])
  }

  @Test func markersForWorkLeft() {
    let marker = "TO" + "DO"
    #expect(lines(WordChecks.noMarkers(swift("let a = 1  // \(marker): more\n"))) == [1])
    #expect(WordChecks.noMarkers(swift("let \(marker)s = 1\n")).isEmpty)
  }

  @Test func papersFromOutside() {
    for mention in ["STYLE" + ".md", ".." + "/shared/x", "/wo" + "rk/main", "SP" + "EC S" + "1"] {
      #expect(lines(WordChecks.noForeignPapers(swift("\n// see \(mention)\n"))) == [2])
    }
    #expect(WordChecks.noForeignPapers(swift("// README.md, Format.md, a network/path\n")).isEmpty)
  }

  @Test func codesFromOutside() {
    let code = "S" + "63"
    for mention in ["/// \(code).", "@Test(\"\(code)\") func t() {}", "/// \("DIF" + "FS") 35"] {
      #expect(lines(WordChecks.noForeignCodes(swift("\n\(mention)\n"))) == [2])
    }
    #expect(WordChecks.noForeignCodes(swift("// S, \(code)x, AS63, SHA256, S_63\n")).isEmpty)
  }

  @Test func unexplainedCFunctions() {
    let header = """
      #define F(x) \\
        g(x)
      // Explained here.
      int tarn_a(int x);

      int tarn_b(int x);
      struct s { int (*call)(void); };
      static inline __attribute__((always_inline)) int tarn_c(void) { return 1; }
      // Explained.
      static inline int
      tarn_d(void) { return (int)(1); }
      enum { E = sizeof(int) };
      """
    let files = [
      SourceFile(path: "Sources/CTarn/include/a.h", text: header),
      SourceFile(path: "Sources/CTarn/a.c", text: "int tarn_a(int x) { return x; }\n"),
    ]
    #expect(WordChecks.commentsOnC(files).map(\.line) == [6, 8])
  }

  @Test func oneCommentForAGroupOfCFunctions() {
    let header = """
      // Both of them.
      static inline int tarn_a(void) {
        return 1;
      }
      int tarn_b(
          int x);

      int tarn_c(int x);
      int tarn_d(int x);
      """
    let file = SourceFile(path: "Sources/CTarn/include/a.h", text: header)
    #expect(WordChecks.commentsOnC([file]).map(\.line) == [8, 9])
  }

  @Test func publicWithoutDocumentation() {
    let text = """
      public import Foundation
      public struct A {
        public var b = 1
        /// Told.
        @inlinable
        public func c() {}
        public static func == (a: A, b: A) -> Bool { true }
        public var _hidden = 1
        @usableFromInline var d = 1
      }
      /// Told.
      @available(*, unavailable)
      open class B {
        // Not a documentation comment.
        open func e() {}
      }
      extension A: CustomStringConvertible {
        public var description: String { "" }
      }
      """
    #expect(lines(WordChecks.documentedPublic(swift(text))) == [2, 3, 15])
    #expect(WordChecks.documentedPublic(swift(text, "Sources/TarnStore/Rows/A.swift")).isEmpty)
  }

  @Test func masksKeepPositionsAndHideText() {
    let text = """
      a /* b /* c */ d */ e "f \\(g("h")) \\" i" j
      k #"l " m \\#(n) o"# p \"""
      q " r
      \""" s // t
      """
    let code = SourceMask.code(of: text, isC: false)
    #expect(code.filter { $0 != " " } == "aej\nkp\n\ns")
    #expect(code.utf8.count == text.utf8.count)
    let c = SourceMask.code(of: "a '\"' b \"\\\"c\" d /* /* */ e #x \"", isC: true)
    #expect(c.filter { $0 != " " } == "abde#x")
  }
}
