import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// Files whose names are not UTF-8.
@Suite struct PathBytesTests {
  private let folder = TemporaryFolder()

  private func shell(_ script: String) throws -> ToolProcess.Result {
    try ToolProcess(
      folder, ["-c", script, "sh", ToolProcess.tarn.path], program: "/bin/sh"
    ).finish()
  }

  @Test func eachNameIsAFile() throws {
    let made = try shell(
      """
      for name in $(printf 'caf\\351 caf\\350'); do
        printf '{"name":"%s"}\\n' "$(printf %s "$name" | od -An -tx1 | tr -d ' ')" |
          "$1" import "$name.tarn" - -f jsonl -c A || exit
      done
      for name in $(printf 'caf\\351 caf\\350'); do
        "$1" export "$name.tarn" A || exit
        "$1" watch "$name.tarn" A --cursor w --exit-after 1 --json | cut -c 1-12 || exit
        "$1" log "$name.tarn" --patch || exit
        "$1" inspect "$name.tarn" --check > /dev/null || exit
      done
      "$1" diff *.tarn
      """)
    #expect(made.errors == "")
    let lines = made.output.split(separator: "\n").map(String.init)
    #expect(
      lines.filter { $0.hasPrefix("{\"name\"") } == [
        #"{"name":"636166e9"}"#, #"{"name":"636166e8"}"#,
      ])
    #expect(lines.filter { $0.hasPrefix("{\"version\"") }.count == 2)
    #expect(made.status == 1, "they differ")
    let names = try shell("ls | od -An -c | tr -d ' \\n'").output
    #expect(names.contains(#"caf350.tarn\ncaf350.tarn-lock"#), "\(names)")
    #expect(names.contains(#"caf351.tarn\ncaf351.tarn-lock"#), "\(names)")
  }

  /// The characters that stand for bytes of paths.
  @Test func textMayHaveAnyCharacter() throws {
    let found = try shell(
      #"""
      last=$(printf '\364\217\277\277')
      printf '{"id":1,"s":"a%sb"}\n{"id":2,"s":"c"}\n' "$last" |
        "$1" import a.tarn - -f jsonl -c A -k id || exit
      "$1" count a.tarn A "s CONTAINS '$last'"
      "$1" count a.tarn A "s CONTAINS '\udbff\udfff'"
      "$1" set a.tarn A --where 'id == 2' "s=$last"
      printf "count A \"s CONTAINS '%s'\"\n" "$last" | "$1" shell a.tarn
      """#)
    #expect(found.errors == "")
    #expect(found.output.split(separator: "\n").filter { Int($0) != nil } == ["1", "1", "2"])
  }

  @Test func `backups of each name are found, kept apart and restored`() throws {
    let made = try shell(
      """
      mkdir d || exit
      for name in $(printf 'caf\\351 caf\\350 caf\\303\\251 cafe\\314\\201'); do
        printf '{"name":"%s"}\\n' "$(printf %s "$name" | od -An -tx1 | tr -d ' ')" |
          "$1" import "$name.tarn" - -f jsonl -c A > /dev/null || exit
        "$1" backup "$name.tarn" d > /dev/null || exit
        mv "d/$name-"*.tarn "d/$name-20250101T000000Z.tarn" || exit
        "$1" backup "$name.tarn" d --keep 2 --incremental > /dev/null || exit
        mv "d/$name-"*.tarn "d/$name-20250301T000000Z.tarn" || exit
      done
      ls d | wc -l
      for name in $(printf 'caf\\351 caf\\350 caf\\303\\251 cafe\\314\\201'); do
        "$1" restore d "$name.tarn" --replace --at 2025-02-01 > /dev/null || exit
        "$1" export "$name.tarn" A || exit
        "$1" backup "$name.tarn" d --keep 1 > /dev/null || exit
      done
      ls d | wc -l
      """)
    #expect(made.errors == "")
    let lines = made.output.split(separator: "\n").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    #expect(
      lines == [
        "8", #"{"name":"636166e9"}"#, #"{"name":"636166e8"}"#, #"{"name":"636166c3a9"}"#,
        #"{"name":"63616665cc81"}"#, "4",
      ])
  }

  @Test func messagesShowTheBytes() throws {
    let missing = try shell(#""$1" inspect "$(printf 'caf\351')""#)
    #expect(missing.errors == #"tarn: caf\xe9: there is no such file"# + "\n")
    let filter = try shell(#""$1" count a.tarn A "$(printf 'name == "\351"')""#)
    #expect(filter.status == 2)
    #expect(filter.errors.contains(#"FILTER: 'name == "\xe9"' is not UTF-8"#), "\(filter.errors)")
  }

  /// The lines that `tarn shell` reads from a pipe have bytes as arguments have.
  @Test func linesOfThePromptMayHaveAnyPath() throws {
    let made = try shell(
      #"""
      echo '{"name":"x"}' > "$(printf 'caf\351.jsonl')"
      "$1" import a.tarn "$(printf 'caf\351.jsonl')" -c A || exit
      printf 'import caf\351.jsonl -c Z\ncount Z\n' | "$1" shell a.tarn
      """#)
    #expect(made.output == "A: 1 added, version 1\nZ: 1 added, version 2\n1\n", "\(made.errors)")
  }

  @Test(arguments: [
    (#"set A name=caf\351 --all"#, #"COLUMN=VALUE: 'name=caf\xe9' is not UTF-8"#),
    (#"count A name == "\377""#, #"FILTER: 'name == "\xff"' is not UTF-8"#),
    (#"query A --columns n\351"#, #"--columns: 'n\xe9' is not UTF-8"#),
    (#"count A\000 name"#, "standard input: line 1 has a NUL"),
  ])
  func otherTextOfThePromptIsUTF8(_ line: String, _ reason: String) throws {
    let result = try shell(
      #"""
      echo '{"name":"x"}' | "$1" import a.tarn - -f jsonl -c A >/dev/null || exit
      printf '\#(line)\n' | "$1" shell a.tarn && exit
      "$1" export a.tarn A
      """#)
    #expect(result.errors.contains(reason), "\(result.errors)")
    #expect(result.output == #"{"name":"x"}"# + "\n")
  }

  @Test func schemasAndTemporaryFilesMayHaveAnyName() throws {
    let made = try shell(
      """
      folder=$(printf 't\\351'); mkdir "$folder" && export TMPDIR="$folder" || exit
      echo '{"name":"x"}' | "$1" import a.tarn - -f jsonl -c A || exit
      "$1" schema a.tarn --json > "$folder/s" && "$1" create b.tarn --schema "$folder/s" || exit
      "$1" copy a.tarn - > "$folder/copy" || exit
      ls "$folder" | od -An -c | tr -d ' \\n'; echo
      "$1" create c.tarn --schema "$folder/none"
      """)
    #expect(
      made.output == "A: 1 added, version 1\nb.tarn: 1 class\n" + #"copy\ns\n"# + "\n")
    #expect(made.errors == #"tarn: cannot read t\xe9/none: No such file or directory"# + "\n")
  }
}
