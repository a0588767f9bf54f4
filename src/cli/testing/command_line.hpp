// command_line.hpp: a command line for the tests of options: words in, argc and argv out. getopt
// moves the words about, so each call has its own.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace switchyard::cli {

class CommandLine {
  public:
    CommandLine(std::string program, std::vector<std::string> words) : words_(std::move(words)) {
        words_.insert(words_.begin(), std::move(program));
        for (std::string& word : words_) pointers_.push_back(word.data());
        pointers_.push_back(nullptr);
    }
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;

    int argc() const { return static_cast<int>(words_.size()); }
    char** argv() { return pointers_.data(); }

  private:
    std::vector<std::string> words_;
    std::vector<char*> pointers_;
};

}  // namespace switchyard::cli
