import Foundation
import TestSupport
import Testing

/// The complete programs of the articles are built and run, and print what the articles say.
@Suite(.timeLimit(.minutes(30))) struct BookProgramTests {
  @Test func twoProcessesChat() throws {
    let book = try BookPrograms("TwoProcesses")
    try #require(book.programs.count == 1)
    let chat = try book.build(book.programs[0], as: "Chat")
    let ann = try book.start(chat, "Ann")
    _ = try ann.text(upTo: "0 messages")
    let bob = try book.start(chat, "Bob")
    _ = try bob.text(upTo: "0 messages")
    try bob.type("Are you there?")
    _ = try ann.text(upTo: "there?\n")
    try ann.type("Yes.")
    _ = try bob.text(upTo: "Yes.\n")
    let shown = try #require(book.blocks("text").first)
      .replacing("/home/ann", with: book.home.path)
    #expect(try ann.text(upTo: "Yes.\n") == shown)
    #expect(bob.printed == shown)
    for one in [ann, bob] {
      one.closeInput()
      _ = try one.finish()
    }
    // Not with an input that has ended: the program could end before its observer is called.
    let again = try book.start(chat, "Ann")
    #expect(try again.text(upTo: "2 messages").hasPrefix("2 messages"))
    again.closeInput()
    _ = try again.finish()
  }

  @Test func theTutorialDoesWhatItSays() throws {
    let book = try BookPrograms("Tutorial")
    let (programs, shown) = (book.programs, book.blocks("text"))
    try #require(programs.count == 6)
    try #require(shown.count == 7)
    let counter = try book.build(programs[0], as: "Counter")
    _ = try book.run(counter, "soup")
    #expect(try book.run(counter, "apple", "pie") == shown[0])

    let kitchen = try book.start(book.build(programs[1], as: "Kitchen"))
    _ = try kitchen.text(upTo: "open tickets\n")
    _ = try book.run(counter, "tea")
    #expect(try kitchen.text(upTo: "new: tea\n") == shown[1])

    let cook = try book.start(book.build(programs[2], as: "Cook"))
    #expect(try cook.text(upTo: "tea\n") == shown[2])
    _ = try kitchen.text(upTo: "0 left\n")
    cook.kill()
    kitchen.kill()

    let board = try book.start(book.build(programs[3], as: "Board"))
    _ = try board.text(upTo: "tea\n")
    _ = try book.run(counter, "cake")
    let screens = try board.text(upTo: "cake\n").components(separatedBy: "\u{1B}[2J\u{1B}[H")
    #expect(screens.last == shown[3])
    board.kill()

    let migrated = try book.build(programs[4], as: "Migrated")
    #expect(try book.run(migrated) == shown[4])
    do {
      Issue.record("\(try book.run(counter))")
    } catch let error as BookPrograms.Failure {
      #expect(error.text.contains(shown[5].trimmingCharacters(in: .newlines)))
    }
    #expect(try book.run(book.build(programs[5], as: "Trust")) == shown[6])
  }

  @Test func whatIsolationMeans() throws {
    let book = try BookPrograms("Isolation")
    let (programs, shown) = (book.programs, book.blocks("text"))
    try #require(programs.count == 2)
    #expect(try book.run(book.build(programs[0], as: "Snapshot")) == shown[0])
    // Which of two threads is paid is open.
    let lines = try book.run(book.build(programs[1], as: "Skew")).split(separator: "\n")
    #expect(lines.sorted() == shown[1].split(separator: "\n").sorted())
    #expect(lines.last == "20 left")
  }

  @Test func programsWithoutARunLoop() throws {
    let book = try BookPrograms("Servers")
    try #require(book.programs.count == 3)
    let file = book.home.file("jobs.tarn")
    let first = try book.start(book.build(book.programs[0], as: "Main"), file)
    _ = try first.text(upTo: "0 jobs are waiting\n")
    first.kill()
    for (program, name) in zip(book.programs.dropFirst(), ["Actor", "Loop"]) {
      #expect(try book.run(book.build(program, as: name), file) == "3 jobs are waiting\n")
    }
  }

  @Test func aTestOfAProgram() throws {
    let book = try BookPrograms("Testing")
    try #require(book.programs.count == 1)
    #expect(try book.run(book.build(book.programs[0], as: "Test")) == "all as expected\n")
  }

  @Test func theProgramAfterMovingFromRealm() throws {
    let book = try BookPrograms("FromRealmSwift")
    let difference = try #require(book.blocks("diff").first)
    let todos = try book.start(book.build(book.changed(difference), as: "Todos"))
    #expect(try todos.text(upTo: "todos\n") == "1 todos\n")
  }
}
